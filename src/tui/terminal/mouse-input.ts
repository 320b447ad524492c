/**
 * Takes the mouse out of the standard input. Ink drops the reports of a mouse, so they are read here first. The rest
 * goes on to Ink, which sees it as a terminal.
 */
import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';

export type MouseEvent = { kind: 'click'; column: number; row: number } | { kind: 'wheel'; by: 1 | -1 };

export const MOUSE_ON = '\u001b[?1000h\u001b[?1006h';
export const MOUSE_OFF = '\u001b[?1006l\u001b[?1000l';

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals report the mouse after an escape.
const REPORT = /\u001b\[<(\d+);(\d+);(\d+)([Mm])/g;

/** A report whose end has not arrived yet. A lone escape does not count, because it is the escape key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const BEGINNING = /\u001b\[(?:<[\d;]*)?$/;

/** Separates the reports of the mouse from everything else that the terminal sends. */
export function createMouseReader(onMouse: (event: MouseEvent) => void): (chunk: string) => string {
  let pending = '';
  return (chunk) => {
    const text = pending + chunk;
    pending = BEGINNING.exec(text)?.[0] ?? '';
    return text.slice(0, text.length - pending.length).replace(REPORT, (_, button, column, row, end) => {
      const event = eventOf(Number(button), Number(column) - 1, Number(row) - 1, end === 'M');
      if (event) onMouse(event);
      return '';
    });
  };
}

function eventOf(button: number, column: number, row: number, isPress: boolean): MouseEvent | null {
  if (!isPress) return null;
  if (button === 64 || button === 65) return { kind: 'wheel', by: button === 64 ? -1 : 1 };
  return button === 0 ? { kind: 'click', column, row } : null;
}

/** A stream without the mouse, which Ink takes for the terminal itself. */
export function withoutMouse(stdin: ReadStream, onMouse: (event: MouseEvent) => void): ReadStream {
  const read = createMouseReader(onMouse);
  const rest = new PassThrough({ encoding: 'utf8' });
  stdin.setEncoding('utf8');
  stdin.on('data', (chunk: string | Buffer) => {
    const keys = read(String(chunk));
    if (keys !== '') rest.write(keys);
  });
  const asTerminal = Object.assign(rest, {
    isTTY: true,
    setRawMode: (isRaw: boolean) => {
      stdin.setRawMode(isRaw);
      return asTerminal;
    },
    ref: () => stdin.ref(),
    unref: () => stdin.unref(),
  });
  return asTerminal as unknown as ReadStream;
}
