/** Names in a sentence. */

/**
 * `a`; `a and b`; `a, b and c`; `a, b, c and 4 more`
 *
 * @param names the first ones @param count how many there are in all
 */
export function listed(names: readonly string[], count = names.length): string {
  const rest = count - names.length;
  const parts = rest > 0 ? [...names, `${rest} more`] : names;
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}
