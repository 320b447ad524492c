/** The text format of Prometheus, for series that are too many to be kept in a registry. */

export interface Family {
  name: string;
  /** One sentence, in which nothing has to be escaped. */
  help: string;
}

export const SERIES_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The head of a metric whose value can go down as well as up. */
export function gaugeHead({ name, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
}

export function counterHead({ name, help }: Family): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} counter\n`;
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\0': '\uFFFD' };

/** The value of a label as written between quotes. A NUL would end the text for some readers. */
export function labelValue(value: string): string {
  return /[\\"\n\0]/.test(value) ? value.replace(/[\\"\n\0]/g, (found) => ESCAPED[found] ?? found) : value;
}
