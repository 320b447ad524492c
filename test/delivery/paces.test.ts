/** The page about channels says how fast each service is sent to, as the program does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import { readPage } from '../docs/pages.ts';

const test = suite('paces in the documents');

/** `| \`ntfy\`, \`matrix\` | 10 | 1 s |` */
const ROW = /^\| (`[^|]+`) \| (\d+|any number) \| ([\d.]+) s \|$/gm;

test('each service has the pace that it is sent to with', () => {
  const { text } = readPage('docs/channels.md');
  const told = [...text.matchAll(ROW)].flatMap(([, kinds = '', perMinute, gap]) =>
    kinds.split(', ').map((kind) => `${kind}: ${perMinute}, ${gap} s`),
  );
  const kept = SERVICES.map(({ kind, chat, gap = 0 }) =>
    chat
      ? `\`${kind}\`: ${chat.perMinute}, ${chat.gap / 1_000} s`
      : `\`${kind}\`: any number, ${gap / 1_000} s`,
  );
  assert.equal(told.sort(), kept.sort());
});

test.run();
