/** The files that run the image agree: the same user, the same rights, the same places. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { DATA_DIR, USER } from '../../packaging/container/build-rootfs.ts';
import { readPage } from '../docs/pages.ts';
import { composeService } from './compose-service.ts';

const test = suite('files of the container');

const OWNER = `${USER}:${USER}`;
const HEALTH = ['CMD', 'snitch', 'health'];

function packaged(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../packaging', name), 'utf8');
}

test('the image runs as the user who owns the data, and its health check needs no shell', () => {
  const text = packaged('Containerfile');
  const argument = (instruction: string) => new RegExp(`^${instruction} (.+)$`, 'm').exec(text)?.[1];
  assert.is(argument('FROM'), 'scratch');
  assert.is(argument('USER'), OWNER);
  assert.is(argument('VOLUME'), DATA_DIR);
  assert.match(text, `SNITCH_DATA_DIR=${DATA_DIR}\n`);
  const [, health = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(text) ?? [];
  assert.equal(JSON.parse(health), HEALTH.slice(1));
});

test('Compose gives it nothing that it does not need', () => {
  const service = composeService();
  assert.is(service.user, OWNER);
  assert.is(service.read_only, true);
  assert.equal(service.cap_drop, ['ALL']);
  assert.equal(service.security_opt, ['no-new-privileges:true']);
  assert.equal(service.volumes, [`data:${DATA_DIR}`, 'backup:/backup']);
  assert.equal(service.healthcheck.test, HEALTH);
  assert.equal(service.ports, ['127.0.0.1:7676:7676']);
});

test('Quadlet does the same', () => {
  const lines = packaged('snitch.container').split('\n');
  for (const line of [
    `User=${USER}`,
    `Group=${USER}`,
    'ReadOnly=true',
    'DropCapability=all',
    'NoNewPrivileges=true',
    'PublishPort=127.0.0.1:7676:7676',
    `Volume=snitch-data:${DATA_DIR}`,
    `HealthCmd=${JSON.stringify(HEALTH)}`,
  ])
    assert.ok(lines.includes(line), line);
});

test('and so does the page’s example for Kubernetes, which must not run two', () => {
  const block = readPage('docs/container.md').blocks.find(({ text }) => text.startsWith('apiVersion'));
  const { spec } = parse(block?.text ?? '') as Deployment;
  assert.equal([spec.replicas, spec.strategy], [1, { type: 'Recreate' }]);
  const pod = spec.template.spec;
  const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
  assert.equal([runAsUser, runAsGroup, fsGroup], [USER, USER, USER]);
  const [container] = pod.containers;
  assert.equal(container?.securityContext, {
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(container?.volumeMounts, [{ name: 'data', mountPath: DATA_DIR }]);
});

interface Deployment {
  spec: {
    replicas: number;
    strategy: unknown;
    template: {
      spec: {
        securityContext: Record<string, number>;
        containers: { securityContext: unknown; volumeMounts: unknown }[];
      };
    };
  };
}

test.run();
