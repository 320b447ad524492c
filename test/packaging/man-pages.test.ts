/** The manual, as groff renders it, against the sources that it is made from. */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manPages } from '../../packaging/man-pages.ts';
import { ENTRIES } from '../../src/cli/catalogue.ts';
import { EXIT } from '../../src/cli/failure/exit-codes.ts';
import { programWith } from '../../src/cli/program.ts';
import { environmentVariable, PLACES, SETTING_NAMES } from '../../src/config/settings.ts';
import { FIXED_SETTINGS } from '../../src/daemon/reload.ts';
import { unless, without } from '../skipped.ts';

const ROOT = join(import.meta.dirname, '../..');
const TERMINAL = 80;
/** Columns that no paragraph fills, so that nothing is looked for across the end of a line. */
const ENDLESS = 5_000;

const manual = suite('the manual');

const rendered = unless(without('groff'), manual);
const linted = unless(without('mandoc', '-h'), manual);

/** The page as a terminal shows it, without bold and the like; a warning is an error. */
function render(page: string, columns: number, device = 'utf8'): string {
  const options = ['-ww', '-mandoc', `-T${device}`, '-P-c', '-P-b', '-P-o', '-P-u', `-rLL=${columns}n`];
  const { status, stdout, stderr } = spawnSync('groff', options, {
    input: manPages()[page] ?? '',
    encoding: 'utf8',
  });
  assert.is(stderr, '', page);
  assert.is(status, 0, page);
  return stdout;
}

/** The lines below a heading, up to the next one that begins as far to the left. */
function partsOf(text: string, indent: number): Map<string, string> {
  const headings = new RegExp(`^ {${indent}}(?=\\S)`, 'm');
  return new Map(
    text.split(headings).map((part) => {
      const [title = '', ...rest] = part.split('\n');
      return [title.trim(), rest.join('\n')];
    }),
  );
}

/** As one line, without the marks that make names bold. */
function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll('…', '...').replace(/\s+/g, ' ').trim();
}

function includes(text: string | undefined, wanted: string, where: string): void {
  assert.ok(text !== undefined, `${where} is not there`);
  assert.ok(plain(text).includes(plain(wanted)), `${where} lacks: ${wanted}`);
}

interface Found {
  name: string;
  command: Command;
}

async function allCommands(): Promise<Found[]> {
  const walk = (command: Command, parent: string): Found[] => {
    const name = `${parent} ${command.name()}`;
    return [{ name, command }, ...command.commands.flatMap((child) => walk(child, name))];
  };
  const programs = await Promise.all(ENTRIES.map((entry) => programWith(entry, () => undefined)));
  return programs.flatMap((program, index) =>
    program.commands
      .filter((command) => command.name() === ENTRIES[index]?.name)
      .flatMap((command) => walk(command, 'snitch')),
  );
}

function headingOf({ name, command }: Found): string {
  const parameters = command.registeredArguments.map((argument) => {
    const shown = `${argument.name()}${argument.variadic ? ' ...' : ''}`;
    return argument.required ? shown : `[${shown}]`;
  });
  return [name, ...parameters].join(' ');
}

function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  const [, examples = ''] = /^Examples:\n(.*?)\n\n/s.exec(help) ?? [];
  return examples.split('\n').flatMap((line) => line.trim().split(/\s{2,}/));
}

rendered('sums up every command', () => {
  const overview = partsOf(render('snitch.1', ENDLESS), 0).get('COMMANDS') ?? '';
  for (const { name, summary } of ENTRIES) {
    const line = overview.split('\n').find((one) => one.trim().startsWith(`${name} `));
    includes(line?.toLowerCase(), `${name} ${summary}`.toLowerCase(), name);
  }
});

rendered('describes every command and subcommand, with its parameters, options and examples', async () => {
  const sections = partsOf(render('snitch.1', ENDLESS), 0);
  const commands = partsOf(sections.get('COMMANDS IN DETAIL') ?? '', 7);
  const shared = partsOf(sections.get('OPTIONS') ?? '', 3);
  const found = await allCommands();
  assert.ok(found.length > ENTRIES.length);
  for (const one of found) {
    const { name, command } = one;
    const help = command.createHelp();
    const text = commands.get(headingOf(one))?.replaceAll(' \\\n', '\n');
    includes(text?.toLowerCase(), command.description().toLowerCase(), name);
    for (const argument of command.registeredArguments)
      includes(text, `${argument.name()} ${help.argumentDescription(argument)}`, name);
    for (const option of help.visibleOptions(command)) {
      const entry = `${option.flags.replace(/[<>]/g, '')} ${help.optionDescription(option)}`;
      const group = option.helpGroupHeading?.replace(':', ' options');
      if (group) includes(text, `the ${group.toLowerCase()}`, name);
      if (option.long === '--help') includes(sections.get('OPTIONS'), option.flags, 'OPTIONS');
      else includes(group ? shared.get(group) : text, entry, name);
    }
    for (const part of examplesOf(command)) includes(text, part, name);
  }
});

rendered('describes every exit code', () => {
  const status = partsOf(render('snitch.1', ENDLESS), 0).get('EXIT STATUS') ?? '';
  const codes = [...status.matchAll(/^ {7}(\d+) +\S/gm)].map(([, code]) => Number(code));
  assert.equal(codes, Object.values(EXIT));
});

rendered('describes every setting: its purpose, its values, its default and its variable', () => {
  const settings = partsOf(partsOf(render('snitch.yaml.5', ENDLESS), 0).get('SETTINGS') ?? '', 7);
  settings.delete('');
  assert.equal([...settings.keys()].sort(), [...SETTING_NAMES].sort());
  for (const [name, text] of settings) {
    const place = PLACES.get(name);
    if (place && 'allowed' in place) includes(text, `Value ${place.allowed}`, name);
    assert.match(text, new RegExp(`^ +Variable +${environmentVariable(name)}$`, 'm'));
    assert.is(/restart$/m.test(text), name in FIXED_SETTINGS, name);
  }
  assert.match(settings.get('rate_limit.per_minute') ?? '', /^ +Default +600$/m);
  assert.not.match(settings.get('smtp.url') ?? '', /^ +Default/m);
});

rendered('says of the settings all that the example file says', () => {
  const page = plain(render('snitch.yaml.5', ENDLESS));
  const [, ...parts] = readFileSync(join(ROOT, 'config.example.yaml'), 'utf8').split('\n\n');
  const comments = parts.flatMap((part) => [...part.matchAll(/^\s*# (.*)$/gm)]);
  assert.ok(comments.length > SETTING_NAMES.length);
  for (const [, comment = ''] of comments) includes(page, comment, 'snitch.yaml(5)');
});

rendered('explains every variable that the program reads', () => {
  const environment = partsOf(render('snitch.1', ENDLESS), 0).get('ENVIRONMENT');
  const explained = `${environment} ${render('snitch.yaml.5', ENDLESS)}`;
  const names = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return [...source.matchAll(/(?:\benv\.|'(?=SNITCH_))([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name);
  });
  assert.ok(names.length > 10);
  assert.equal(
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(explained)),
    [],
  );
});

rendered('names the places of the credentials and of the socket that the units name', () => {
  const page = render('snitch.yaml.5', ENDLESS);
  const unit = (name: string) => readFileSync(join(ROOT, 'packaging', name), 'utf8');
  const files = [...unit('snitch.service').matchAll(/^LoadCredential=[^:]+:(.+)$/gm)];
  assert.ok(files.length > 0);
  for (const [, file] of files) includes(page, `/etc/credstore/${file}`, 'CREDENTIALS');
  includes(page, /^ListenStream=(.+)$/m.exec(unit('snitch.socket'))?.[1] ?? 'an address', 'THE SOCKET');
});

rendered('fits a terminal, and divides no word', () => {
  const pages = Object.keys(manPages());
  assert.ok(pages.length > 1);
  for (const page of pages) {
    const lines = render(page, TERMINAL - 2).split('\n');
    assert.equal(
      lines.filter((line) => line.length > TERMINAL || /[‐­]/.test(line)),
      [],
    );
    // Every character has something to stand for it on a terminal without Unicode.
    render(page, TERMINAL - 2, 'ascii');
  }
});

linted('is sound, but for the date that it does without', () => {
  for (const [name, input] of Object.entries(manPages())) {
    const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning'], { input, encoding: 'utf8' });
    const complaints = stdout.split('\n').filter((line) => line !== '' && !/missing date/.test(line));
    assert.equal(complaints, [], name);
  }
});

manual('is the same whenever and wherever it is made', () => {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-manual-'));
  try {
    const command = ['--import', import.meta.resolve('tsx'), join(ROOT, 'packaging/man-pages.ts'), directory];
    const elsewhere = {
      TZ: 'Asia/Tokyo',
      LANG: 'C',
      HOME: directory,
      COLUMNS: '30',
      SNITCH_LISTEN: '[::1]:1',
    };
    const { status, stderr } = spawnSync(process.execPath, command, {
      cwd: directory,
      env: { PATH: process.env.PATH, ...elsewhere },
      encoding: 'utf8',
    });
    assert.is(stderr, '');
    assert.is(status, 0);
    const written = readdirSync(directory).filter((name) => /\.\d$/.test(name));
    assert.equal(written.sort(), Object.keys(manPages()).sort());
    for (const [name, page] of Object.entries(manPages())) {
      assert.is(readFileSync(join(directory, name), 'utf8'), page);
      assert.match(page, /^\.TH \S+ \d "" /, 'without a date');
      assert.match(page, /^[\n\x20-\x7e]+$/, 'in characters that need no encoding');
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

manual.run();
