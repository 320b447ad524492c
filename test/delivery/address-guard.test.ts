import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AddressRefused,
  addressRefusal,
  guardedConnector,
  type Resolve,
} from '../../src/delivery/http/address-guard.ts';

const ALWAYS = {
  '169.254.169.254': 'link-local',
  '169.254.0.1': 'link-local',
  'fe80::1': 'link-local',
  'febf::1': 'link-local',
  'fd00:ec2::254': 'cloud metadata',
  '100.100.100.200': 'cloud metadata',
  '192.0.0.192': 'cloud metadata',
  '::ffff:169.254.169.254': 'link-local',
  '::ffff:a9fe:a9fe': 'link-local',
  '::169.254.169.254': 'link-local',
  '2002:a9fe:a9fe::1': 'link-local',
  '64:ff9b::169.254.169.254': 'link-local',
  '64:ff9b::6464:64c8': 'cloud metadata',
  '64:ff9b:1::192.0.0.192': 'cloud metadata',
  '::ffff:0:169.254.169.254': 'link-local',
  '::5efe:169.254.169.254': 'link-local',
  '2606:2800:220:1::5efe:a9fe:a9fe': 'link-local',
  '2606:2800:220:1:200:5efe:169.254.169.254': 'link-local',
  '2002:808:808::5efe:169.254.169.254': 'link-local',
  'fd12::200:5efe:100.100.100.200': 'cloud metadata',
  '2001:0:808:808:0:fbff:5601:5601': 'link-local',
  '64:ff9b:1:a9fe:a9:fe00::': 'link-local',
  '64:ff9b:1:a9:fe:a9fe::': 'link-local',
  '64:ff9b:1:abcd:a9:fea9:fe00:0': 'link-local',
  '64:ff9b:1:abcd::169.254.169.254': 'link-local',
  '64:ff9b:1:abcd:64:6464:c800:0': 'cloud metadata',
  '64:ff9b:1:ab64:64:64c8::': 'cloud metadata',
  '64:ff9b:1:6464:64:c800::': 'cloud metadata',
  '64:ff9b:1:abcd::100.100.100.200': 'cloud metadata',
  '2002:6464:64c8::1': 'cloud metadata',
  '2001:0:808:808:0:fbff:9b9b:9b37': 'cloud metadata',
  '::ffff:100.100.100.200': 'cloud metadata',
  '::100.100.100.200': 'cloud metadata',
};

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '0.0.0.0',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '::',
  '::1',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:10.1.2.3',
  '2002:7f00:1::',
  '64:ff9b::10.0.0.1',
  '::127.0.0.1',
  '::5efe:127.0.0.1',
  '::200:5efe:10.0.0.1',
  '2606:2800:220:1::5efe:127.0.0.1',
  '2606:2800:220:1:200:5efe:192.168.1.1',
  '2606:2800:220:1:300:5efe:192.168.1.1',
  '2002:808:808::5efe:10.0.0.1',
  'fd12::5efe:8.8.8.8',
  '2001:0:808:808:0:fbff:80ff:fffe',
  '::ffff:0:127.0.0.1',
  '64:ff9b:1::127.0.0.1',
  '64:ff9b:1:7f00:0:100::',
  '64:ff9b:1:7f:0:1::',
  '64:ff9b:1:abcd:7f:0:100:0',
  '64:ff9b:1::',
];

const PUBLIC = [
  '93.184.216.34',
  '2606:2800:220:1::1',
  '::ffff:8.8.8.8',
  '2002:808:808::1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:808:8:800::',
  '2606:2800:220:1::5efe:8.8.8.8',
  '2001:0:808:808:0:fbff:f7f7:f7f7',
  '::8.8.8.8',
  // Looks like an ISATAP address, except for the octet before it.
  '2606:2800:220:1:400:5efe:127.0.0.1',
];

test('link-local and metadata addresses are refused whatever the setting', () => {
  for (const [address, word] of Object.entries(ALWAYS)) {
    for (const allowPrivate of [true, false]) {
      assert.match(addressRefusal(address, allowPrivate) ?? 'allowed', word, address);
    }
  }
});

test('private and loopback ranges are refused by the setting alone', () => {
  for (const address of PRIVATE) {
    assert.is(addressRefusal(address, true), null, address);
    assert.match(addressRefusal(address, false) ?? 'allowed', 'allow_private', address);
  }
});

test('anything that is not an address is refused', () => {
  for (const text of ['', 'local host', '1.2.3.4.5'])
    assert.match(addressRefusal(text, true) ?? 'allowed', 'is not an IP address', text);
});

test('public addresses are never refused', () => {
  for (const address of PUBLIC) assert.is(addressRefusal(address, false), null, address);
});

function resolver(...answers: string[][]): Resolve {
  return ((_name: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) => {
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as unknown as Resolve;
}

async function withServer(run: (port: number, hosts: string[]) => Promise<void>): Promise<void> {
  const hosts: string[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host ?? '');
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run((server.address() as AddressInfo).port, hosts);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function get(url: string, allowPrivate: boolean, resolve?: Resolve): Promise<number | Error> {
  const dispatcher = new Agent({
    connect: guardedConnector({ allowPrivate, timeout: 2_000, ...(resolve ? { resolve } : {}) }),
  });
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode;
  } catch (error) {
    return error as Error;
  } finally {
    await dispatcher.destroy();
  }
}

test('every spelling of a refused literal address is refused before a connection is made', async () => {
  await withServer(async (port, hosts) => {
    const spellings = [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0x7f.1',
      '127.1',
      '[::ffff:127.0.0.1]',
    ];
    for (const host of [...spellings, '0', '[::1]', '[::]', '１２７.0.0.1']) {
      assert.instance(await get(`http://${host}:${port}/`, false), AddressRefused, host);
    }
    assert.is(hosts.length, 0);
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1']) {
      assert.is(await get(`http://${host}:${port}/`, true), 200, host);
    }
    for (const host of [
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
      '[::ffff:a9fe:a9fe]',
    ]) {
      assert.instance(await get(`http://${host}:${port}/`, true), AddressRefused, host);
    }
  });
});

test('a name is connected to at its checked addresses only', async () => {
  await withServer(async (port, hosts) => {
    assert.is(await get(`http://hook.test:${port}/`, true, resolver(['169.254.169.254', '127.0.0.1'])), 200);
    assert.equal(hosts, [`hook.test:${port}`]);
    const refused = await get(`http://hook.test:${port}/`, false, resolver(['10.0.0.1', '127.0.0.1']));
    assert.instance(refused, AddressRefused);
    assert.match(
      (refused as Error).message,
      'hook.test has no allowed address: 10.0.0.1 is a private address',
    );
    assert.is(hosts.length, 1);
  });
});

test('an answer that changes between check and connect gains nothing', async () => {
  await withServer(async (port, hosts) => {
    let asked = 0;
    const changing = ((name: string, options: object, done: never) => {
      asked += 1;
      return resolver([asked === 1 ? '127.0.0.1' : '169.254.169.254'])(name, options, done);
    }) as unknown as Resolve;
    assert.is(await get(`http://hook.test:${port}/`, true, changing), 200);
    assert.is(asked, 1, 'the checked answer is the one that is used');
    assert.instance(await get(`http://hook.test:${port}/`, true, changing), AddressRefused);
    assert.is(hosts.length, 1);
  });
});

test('names that only this host knows are resolved by the system', async () => {
  await withServer(async (port) => {
    assert.is(await get(`http://localhost:${port}/`, true), 200);
    assert.instance(await get(`http://localhost:${port}/`, false), AddressRefused);
  });
});

test.run();
