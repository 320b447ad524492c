/** What may follow the `?` in `smtp.url`, and what is said of the rest, without its value. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readSmtpOptions } from '../../src/core/smtp-url.ts';

const test = suite('options of smtp.url');

const read = (query: string) => readSmtpOptions(new URLSearchParams(query));

test('each is read as what it is, those of TLS apart', () => {
  assert.equal(read(''), { tls: {} });
  assert.equal(
    read('requireTLS=true&ignoreTLS=false&opportunisticTLS=true&name=host&authMethod=PLAIN&localAddress=::1'),
    {
      requireTLS: true,
      ignoreTLS: false,
      opportunisticTLS: true,
      name: 'host',
      authMethod: 'PLAIN',
      localAddress: '::1',
      tls: {},
    },
  );
  assert.equal(
    read(
      'maxConnections=2&maxMessages=99999&tls.rejectUnauthorized=false&tls.servername=a&tls.minVersion=TLSv1.3',
    ),
    {
      maxConnections: 2,
      maxMessages: 99_999,
      tls: { rejectUnauthorized: false, servername: 'a', minVersion: 'TLSv1.3' },
    },
  );
});

test('what cannot be read is refused by its name', () => {
  for (const query of ['logger=true', 'toString=x', 'tls.=x']) {
    assert.throws(() => read(query), /has an unknown option; it may have requireTLS, /, query);
  }
  assert.throws(() => read('requireTLS=s3cret'), /^smtp\.url: requireTLS must be true or false$/);
  for (const count of ['0', '-1', '1.5', '100000', 's3cret']) {
    assert.throws(
      () => read(`maxMessages=${count}`),
      /^smtp\.url: maxMessages must be a whole number from 1$/,
    );
  }
});

test.run();
