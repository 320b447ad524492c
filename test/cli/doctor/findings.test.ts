import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { linesOf } from '../../../src/cli/doctor/findings.ts';
import { styleOf } from '../../../src/cli/output/style.ts';
import { displayWidth } from '../../../src/text/width.ts';

const test = suite('the findings of doctor');

const FINDING = {
  check: 'configuration',
  state: 'warning',
  message: `the clock of this host is 3 s behind \u001b[2Jthat of the database`,
  remedy: 'let an NTP client keep the clock, for example systemd-timesyncd',
} as const;

test('on a narrow terminal every line is within its width, and nothing is left out', () => {
  for (const columns of [40, 55, 80]) {
    const lines = linesOf(FINDING, styleOf({ isTTY: true, columns }, { NO_COLOR: '1', LANG: 'C.UTF-8' }, 0));
    assert.ok(
      lines.every((line) => displayWidth(line) <= columns),
      lines.join('\n'),
    );
    const words = lines.join(' ').replaceAll(/\s+/g, ' ');
    for (const text of ['of this host is 3 s behind', '\\u001b[2Jthat of the database', FINDING.remedy]) {
      assert.ok(words.includes(text), words);
    }
  }
});

test('in a pipe a finding is a line, and its remedy another one', () => {
  assert.equal(linesOf(FINDING, styleOf({}, { LANG: 'C.UTF-8' }, 0)), [
    '▲ warning  configuration  the clock of this host is 3 s behind \\u001b[2Jthat of the database',
    `${' '.repeat(26)}→ ${FINDING.remedy}`,
  ]);
});

test.run();
