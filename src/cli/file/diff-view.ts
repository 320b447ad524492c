/** What applying a file would do, in lines for people. */
import { printable } from '../../text/printable.ts';
import { type Paint, paint, type Style } from '../output/style.ts';
import type { Plan } from './apply-plan.ts';
import { channelLines, channelSummary, type Sign } from './channel-view.ts';
import type { FieldChange } from './field-change.ts';

/** Longer values are cut, because notes may have ten thousand characters. */
const LONGEST_VALUE = 70;

const PAINTS: Record<Sign, Paint> = { '+': 'green', '~': 'yellow', '-': 'red', '!': 'cyan' };

export function planLines(plan: Plan, prune: boolean, style: Style): string[] {
  const line = (sign: Sign, text: string) => paint(style, PAINTS[sign], `${sign} ${printable(text)}`);
  const field = (change: FieldChange) => fieldLine(change, style.signs.ellipsis);
  const lines: string[] = [];
  if (plan.case.length > 0) lines.push(line('~', 'change the case'), ...plan.case.map(field));
  for (const { name, interval, token, beside } of plan.create) {
    const second = beside === null ? '' : `: a second one of this name, beside that of "${beside}"`;
    lines.push(line('+', `create ${name} (${token === null ? interval : `${interval}, ${token}`})${second}`));
  }
  for (const { name, token, fields, adopted, takenFrom } of plan.change) {
    const how = takenFrom === null ? 'the file keeps it from now on' : `taken over from "${takenFrom}"`;
    const what = adopted ? `adopt ${name} (${token}): ${how}` : `change ${name} (${token})`;
    lines.push(line('~', what), ...fields.map(field));
  }
  const channels = plan.channels ? channelLines(plan.channels, prune) : [];
  for (const { sign, text, fields } of channels) {
    lines.push(
      line(sign, text),
      ...fields.map((one) => (typeof one === 'string' ? `    ${printable(one)}` : field(one))),
    );
  }
  for (const { name, token, status } of plan.gone) {
    const what = `${name} (${token}, ${status})`;
    lines.push(prune ? line('-', `delete ${what}`) : line('!', `no longer in the file, and kept: ${what}`));
  }
  return lines;
}

function fieldLine({ field, from, to }: FieldChange, ellipsis: string): string {
  return `    ${field}: ${valueText(from, ellipsis)} -> ${valueText(to, ellipsis)}`;
}

function valueText(value: unknown, ellipsis: string): string {
  const text = printable(JSON.stringify(value));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}${ellipsis}` : text;
}

/** `2 to create, 1 to change, 7 unchanged` */
export function planSummary(
  { case: settings, create, change, gone, unchanged, channels }: Plan,
  prune: boolean,
): string {
  const parts = [
    settings.length > 0 ? 'the case to change' : '',
    create.length > 0 ? `${create.length} to create` : '',
    change.length > 0 ? `${change.length} to change` : '',
    gone.length > 0 ? `${gone.length} ${prune ? 'to delete' : 'no longer in the file'}` : '',
    `${unchanged} unchanged`,
    ...(channels ? channelSummary(channels, prune) : []),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
