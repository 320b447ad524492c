/** Copies a text through the terminal, so it works over SSH too (OSC 52). A terminal may refuse without saying so. */

/** The most that terminals accept, in bytes of base64: some silently drop anything longer. */
const LONGEST = 74_994;

/** GNU screen drops a string longer than its buffer of 768 bytes. */
const SCREEN_PART = 500;

/** The sequence to write to the terminal; null for a text that is too long. */
export function clipboardSequence(text: string, env: NodeJS.ProcessEnv): string | null {
  const encoded = Buffer.from(text).toString('base64');
  if (encoded.length > LONGEST) return null;
  const sequence = `\u001b]52;c;${encoded}\u0007`;
  if (env.TMUX) return `${sequence}${throughTmux(sequence)}`;
  return env.STY ? throughScreen(sequence) : sequence;
}

/**
 * With `set-clipboard on`, tmux handles the sequence itself. By default it drops sequences from programs, but passes on
 * wrapped ones if `allow-passthrough` is on. So both are sent, and the one that does not apply has no effect.
 */
function throughTmux(sequence: string): string {
  return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
}

/** GNU screen passes on only wrapped sequences. */
function throughScreen(sequence: string): string {
  const parts = sequence.match(new RegExp(`[^]{1,${SCREEN_PART}}`, 'g')) ?? [];
  return parts.map((part) => `\u001bP${part}\u001b\\`).join('');
}
