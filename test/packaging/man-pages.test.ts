/** The manual, as groff renders it. */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readDefinitions } from '../../packaging/man-definitions.ts';
import { manPages } from '../../packaging/man-pages.ts';
import { ENTRIES } from '../../src/cli/catalogue.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { environmentVariable, SETTING_NAMES } from '../../src/settings.ts';

const manual = suite('the manual');

/** The page as text in one line, so that no name is looked for across the end of one. */
function render(name: string): string {
  const input = manPages()[name] ?? '';
  const options = ['-mandoc', '-ww', '-Tutf8', '-P-c', '-P-b', '-P-u', '-rLL=200n', '-rHY=0'];
  const { status, stdout, stderr } = spawnSync('groff', options, { input, encoding: 'utf8' });
  assert.is(stderr, '');
  assert.is(status, 0);
  return stdout.replaceAll('‐', '-').replaceAll('−', '-').replace(/\s+/g, ' ');
}

if (spawnSync('groff', ['--version']).error) {
  manual('needs groff', () => console.log('skipped, for want of groff: how the manual reads'));
} else {
  manual('tells of every command, with all its parameters, options and examples', async () => {
    // Long examples go on in a second line.
    const page = render('snitch.1').replaceAll(' \\ ', ' ');
    const definitions = [...(await readDefinitions()).values()].flat();
    assert.ok(definitions.length > ENTRIES.length);
    for (const { name, parameters, options, examples } of definitions) {
      assert.match(page, ` ${name.replace('snitch ', '')} `);
      for (const parameter of parameters) assert.match(page, parameter.name);
      for (const { flags } of options) assert.match(page, flags.replace(/[<>]/g, ''), `${name} ${flags}`);
      for (const example of examples) assert.match(page, example.split(/ {2,}/)[0] ?? '', name);
    }
    for (const { summary } of ENTRIES)
      assert.match(page.toLowerCase(), summary.replaceAll('`', '').toLowerCase());
  });

  manual('tells of every exit code', () => {
    const [, status = ''] = render('snitch.1').split(' EXIT STATUS ');
    for (const code of Object.values(EXIT)) assert.match(status, new RegExp(`(^| )${code} `));
  });

  manual('tells of every setting and its variable', () => {
    const page = render('snitch.yaml.5');
    for (const setting of SETTING_NAMES) {
      assert.match(page, ` ${setting} `);
      assert.match(page, ` ${environmentVariable(setting)} `);
    }
    for (const credential of ['/etc/credstore/snitch.smtp-password', '/etc/credstore/snitch.admin-key'])
      assert.match(page, credential);
  });
}

manual('is the same wherever and whenever it is made', () => {
  const pages = Object.values(manPages()).join('\n');
  assert.not.match(pages, new RegExp(`\\b${new Date().getFullYear()}\\b`));
  assert.not.match(pages, process.cwd());
});

manual.run();
