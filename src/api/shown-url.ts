/**
 * The URL as the API shows it. Without the user name as well as the password, because some services use it for a secret.
 *
 * @throws TypeError where it is no URL
 */
export function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  return parsed.href;
}
