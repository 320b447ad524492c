/** Copies a text by way of the terminal, so that it works over SSH too (OSC 52). Terminals may refuse it, and do not say so. */

/** What terminals take at most, in bytes of base64: some drop what is longer without a word. */
const LONGEST = 74_994;

/** GNU screen drops a string that is longer than its buffer of 768 bytes. */
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
 * With `set-clipboard on`, tmux understands the sequence itself; by default it drops that of a program, and passes on what
 * is wrapped for it where `allow-passthrough` is on. Whichever way is closed does nothing.
 */
function throughTmux(sequence: string): string {
  return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
}

/** GNU screen passes on only what is wrapped for it. */
function throughScreen(sequence: string): string {
  const parts = sequence.match(new RegExp(`[^]{1,${SCREEN_PART}}`, 'g')) ?? [];
  return parts.map((part) => `\u001bP${part}\u001b\\`).join('');
}
