import { closeSync, fstatSync, openSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isJournal, type Level, withPriority } from '../../src/log/journal.ts';

const journal = suite('journal');

journal('is known by the device and the inode of the very descriptor', () => {
  const [one, other] = [openSync('/dev/null', 'r'), openSync('/dev/zero', 'r')];
  const { dev, ino } = fstatSync(one, { bigint: true });
  const stream = { JOURNAL_STREAM: `${dev}:${ino}` };
  assert.is(isJournal(one, stream), true);
  assert.is(isJournal(other, stream), false, 'an output that was sent elsewhere');
  for (const text of [
    undefined,
    '',
    ':',
    `${dev}`,
    `${dev}:`,
    `:${ino}`,
    `${ino}:${dev}`,
    `${dev}:${ino}0`,
  ]) {
    assert.is(isJournal(one, { JOURNAL_STREAM: text }), false, text);
  }
  closeSync(one);
  closeSync(other);
  assert.is(isJournal(one, stream), false, 'an output that is closed');
});

journal('has a priority of the kernel for each level', () => {
  const levels: Level[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
  assert.equal(
    levels.map((level) => withPriority('text', level)),
    ['<7>text', '<7>text', '<6>text', '<4>text', '<3>text', '<2>text'],
  );
});

journal('is told the priority at the start of every line that is not empty', () => {
  assert.is(withPriority('one\ntwo\n', 'error'), '<3>one\n<3>two\n');
  assert.is(withPriority('\none\n\ntwo', 'warn'), '\n<4>one\n\n<4>two');
  assert.is(withPriority('a\rb\u2028c\n', 'info'), '<6>a\rb\u2028c\n');
  assert.is(withPriority('', 'info'), '');
});

journal.run();
