/**
 * The message of a TLS error without the advice that Node.js adds for whoever starts it: to trust the authorities of the
 * system, which this program does already.
 */
export function withoutNodeAdvice(message: string): string {
  return message.replace(/; if the root CA is installed locally.*$/s, '');
}
