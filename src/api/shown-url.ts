/**
 * The URL as the API shows it. Without the user name too, not only the password, because some services use it for a
 * secret.
 *
 * @throws TypeError if it is not a URL
 */
export function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
