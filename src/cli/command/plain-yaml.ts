/**
 * Reads the few flat lines of `cli.yaml` and `credentials.yaml` (`name: value`). Loading a YAML library would take
 * longer than everything else that a command does.
 */

/** @throws Error that names the line but never quotes it, because it may hold a key */
export function parsePlainYaml(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#.*)?$/.test(line) || /^---\s*$/.test(line)) continue;
    const [, name, rest = ''] = /^([a-z_]+):(?:\s+(.*))?$/.exec(line) ?? [];
    const value = name === undefined ? null : readScalar(rest.trim());
    if (name === undefined || value === null)
      throw new Error(`line ${index + 1} is not of the form NAME: VALUE`);
    if (value !== '') values[name] = value;
  }
  return values;
}

function readScalar(text: string): string | null {
  const single = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(text);
  if (single) return (single[1] ?? '').replaceAll("''", "'");
  const double = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(text);
  if (double) return readQuoted(double[1] ?? '');
  const plain = text.replace(/(^|\s+)#.*$/, '').trimEnd();
  return /^["'[{&*!|>%@`]/.test(plain) ? null : plain;
}

function readQuoted(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}
