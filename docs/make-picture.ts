/**
 * Draws docs/dashboard.svg and docs/dashboard-detail.svg: the real dashboard on a real terminal (tmux), before the data
 * of `snitch serve --demo`.
 *
 *   npm run build && node docs/make-picture.ts
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { displayWidth } from '../src/text/width.ts';
import { openTerminal } from '../test/tui/tmux.ts';

const PROGRAM = join(import.meta.dirname, '../dist/snitch.mjs');
const COLUMNS = 118;
const ROWS = { table: 28, detail: 52 };
const CELL = { width: 8.43, height: 18 };
const MARGIN = 14;
const PAPER = '#16181d';
const INK = '#d5d9e0';

/** A calm palette for the sixteen colours that the dashboard uses by name. */
const COLORS: Record<number, string> = {
  31: '#ff6b6b',
  32: '#7bd88f',
  33: '#ffc66d',
  34: '#7aa2f7',
  35: '#c792ea',
  36: '#67d4e0',
  90: '#6b7280',
};

async function startDemo(): Promise<{ child: ChildProcess; dataDir: string }> {
  const { PATH } = process.env;
  // The picture shows the port that readers know.
  const env = { PATH, SNITCH_LISTEN: '127.0.0.1:7676', SNITCH_LOG_FORMAT: 'json' };
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--demo'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the daemon ended:\n${lines.join('\n')}`)));
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        lines.push(line);
        if (line.includes('"msg":"listening"')) resolve();
      });
    }
  });
  const [dataDir = ''] = /\/\S*snitch-demo-\w+/.exec(lines.join('\n')) ?? [];
  return { child, dataDir };
}

/** The table, and the snitch that is selected in it. */
async function capture(): Promise<{ table: string; detail: string }> {
  const { child, dataDir } = await startDemo();
  const size = { columns: COLUMNS, rows: ROWS.table };
  const terminal = openTerminal('picture', { SNITCH_DATA_DIR: dataDir }, size);
  try {
    terminal.type(`node ${PROGRAM} dashboard`);
    terminal.press('Enter');
    await terminal.shows('live', 'etl-orders');
    terminal.press('j', 'j', 'j');
    await terminal.hides(/connecting|\s…/);
    await sleep(8_000);
    const table = terminal.styledScreen();
    terminal.resize(COLUMNS, ROWS.detail);
    terminal.press('Enter');
    await terminal.shows('Timeline', 'Last output');
    await sleep(1_000);
    return { table, detail: terminal.styledScreen() };
  } finally {
    terminal.close();
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}

interface Style {
  bold: boolean;
  dim: boolean;
  inverse: boolean;
  color: string;
}

interface Run extends Style {
  column: number;
  text: string;
}

/** The runs of one style in a line, with the column that each begins at. */
function runsOf(line: string, style: Style): Run[] {
  const runs: Run[] = [];
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape.
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) for (const code of (codes || '0').split(';').map(Number)) applyCode(style, code);
    else {
      // Words that stand apart are drawn apart: programs that show pictures disagree on several spaces.
      for (const part of style.inverse ? [text] : text.split(/( {2,}|^ | $)/)) {
        if (part.trim() !== '' || style.inverse) runs.push({ ...style, column, text: part });
        column += displayWidth(part);
      }
    }
  }
  return runs;
}

function applyCode(style: Style, code: number): void {
  if (code === 0) Object.assign(style, { bold: false, dim: false, inverse: false, color: INK });
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 7) style.inverse = true;
  else if (code === 22) Object.assign(style, { bold: false, dim: false });
  else if (code === 27) style.inverse = false;
  else if (code === 39) style.color = INK;
  else if (COLORS[code]) style.color = COLORS[code];
}

function drawRun({ text, column, color, bold, dim, inverse }: Run, row: number): string {
  const x = MARGIN + column * CELL.width;
  const y = MARGIN + row * CELL.height;
  const width = (displayWidth(text) * CELL.width).toFixed(1);
  const back = inverse
    ? `<rect x="${x.toFixed(1)}" y="${y}" width="${width}" height="${CELL.height}" fill="${color}"/>`
    : '';
  if (text.trim() === '') return back;
  const escaped = text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  const weight = bold ? ' font-weight="bold"' : '';
  const opacity = dim ? ' opacity="0.6"' : '';
  return `${back}<text x="${x.toFixed(1)}" y="${y + 13.5}" textLength="${width}" fill="${inverse ? PAPER : color}"${weight}${opacity}>${escaped}</text>`;
}

function draw(screen: string, label: string): string {
  const style = { bold: false, dim: false, inverse: false, color: INK };
  const lines = screen.replace(/\n+$/, '').split('\n');
  const body = lines
    .flatMap((line, row) => runsOf(line, style).map((run) => drawRun(run, row)))
    .filter(Boolean);
  const width = Math.ceil(COLUMNS * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<rect width="100%" height="100%" rx="8" fill="${PAPER}"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" xml:space="preserve">
${body.join('\n')}
</g>
</svg>
`;
}

const LABELS = {
  table: 'The Snitch dashboard: a table of jobs with their status, time left and history',
  detail: 'One snitch on the dashboard: why it alerts, its last periods, its output and a timeline',
};

const { table, detail } = await capture();
writeFileSync(join(import.meta.dirname, 'dashboard.svg'), draw(table, LABELS.table));
writeFileSync(join(import.meta.dirname, 'dashboard-detail.svg'), draw(detail, LABELS.detail));
