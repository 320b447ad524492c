/** The body of a message, written once and laid out twice: as plain text and as HTML. */
import { escaped } from '../../text/html.ts';

/** All texts are plain; those from outside must already have passed through `printable`. */
export interface Letter {
  /** The first one says what happened, and stands out. */
  paragraphs: string[];
  fields: { label: string; value: string }[];
  lists: { heading: string; items: string[] }[];
  /** What the job printed, in lines. */
  output?: string;
  /** A link for the reader. */
  link?: { url: string; words: string } | null;
  /** Command lines that show more. */
  commands: string[];
  footer: string;
}

const PRINTED = 'The job printed:';

export function asText({ paragraphs, fields, lists, output = '', link, commands, footer }: Letter): string {
  const width = Math.max(0, ...fields.map(({ label }) => label.length)) + 2;
  const indent = ' '.repeat(width);
  const lines = fields.map(
    ({ label, value }) => `${`${label}:`.padEnd(width)}${value.replaceAll('\n', `\n${indent}`)}`,
  );
  const blocks = [
    ...paragraphs,
    link ? `${link.words}:\n${link.url}` : '',
    lines.join('\n'),
    ...lists.map(({ heading, items }) => [heading, ...items.map((item) => `  - ${item}`)].join('\n')),
    output === '' ? '' : `${PRINTED}\n\n${output.replace(/^(?=.)/gm, '  ')}`,
    commands.length > 0 ? ['To see more:', ...commands.map((line) => `  ${line}`)].join('\n') : '',
    `-- \n${footer}`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/**
 * The reader's mail program chooses the colours, light or dark: a text colour alone might be that of its background.
 */
const FONT = 'font-family:sans-serif;font-size:14px;line-height:1.5';
const LABEL = 'padding:2px 16px 2px 0;vertical-align:top;opacity:.7;white-space:nowrap';
const VALUE = 'padding:2px 0;vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere';
const CODE = 'padding:8px 12px;border:1px solid #888;font-family:monospace;white-space:pre-wrap';

const BUTTON =
  'display:inline-block;padding:8px 16px;border-radius:4px;background:#1a5fb4;color:#fff;text-decoration:none';

export function asHtml({ paragraphs, fields, lists, output = '', link, commands, footer }: Letter): string {
  const [gist = '', ...others] = paragraphs;
  const rows = fields.map(
    ({ label, value }) =>
      `<tr><td style="${LABEL}">${escaped(label)}</td><td style="${VALUE}">${escaped(value)}</td></tr>`,
  );
  const parts = [
    `<p><strong>${escaped(gist)}</strong></p>`,
    ...others.map((text) => `<p>${escaped(text)}</p>`),
    link ? `<p><a href="${escaped(link.url)}" style="${BUTTON}">${escaped(link.words)}</a></p>` : '',
    rows.length > 0 ? `<table style="border-collapse:collapse">${rows.join('\n')}</table>` : '',
    ...lists.map(
      ({ heading, items }) =>
        `<p><strong>${escaped(heading)}</strong></p>\n<ul>${items.map((item) => `<li>${escaped(item)}</li>`).join('\n')}</ul>`,
    ),
    output === '' ? '' : `<p>${PRINTED}</p>\n<pre style="${CODE}">${escaped(output)}</pre>`,
    commands.length > 0
      ? `<p>To see more:</p>\n<pre style="${CODE}">${commands.map(escaped).join('\n')}</pre>`
      : '',
    `<p style="opacity:.7;font-size:12px">${escaped(footer)}</p>`,
  ];
  const body = parts.filter((part) => part !== '').join('\n');
  return `<!DOCTYPE html>\n<html lang="en">\n${HEAD}\n<body style="${FONT}">\n${body}\n</body></html>\n`;
}

const HEAD = '<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>';
