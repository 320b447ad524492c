/** What people look at now and then: pages of a case that each act changes a little. */
import type { Client } from '../client.ts';

/** Without what is counted since the start of the process. */
const JSON_PAGES = [
  ...['/v1/case', '/v1/audience', '/v1/channels', '/v1/webhooks', '/v1/badges', '/v1/silences'],
  ...['/v1/deliveries?state=dead', '/v1/deliveries?state=dropped', '/v1/log?limit=60', '/v1/status_page'],
];

/** The texts of all pages, by their paths, each an array of lines. */
export async function pagesOf(client: Client, tokens: readonly string[]): Promise<[string, string[]][]> {
  const pages: [string, string[]][] = [];
  for (const path of [...JSON_PAGES, ...tokens.flatMap(pathsOf)]) {
    const body = (await client.get(path)).json<unknown>();
    const entries = Array.isArray(body) ? (body as unknown[]) : [body];
    pages.push([path, entries.map((entry) => JSON.stringify(entry))]);
  }
  const series = (await client.get('/v1/metrics')).text.split('\n').filter((line) => /^\w/.test(line));
  // On PostgreSQL a snitch that was refused has used up a number.
  pages.push(['/v1/metrics', series.map((line) => line.replace(/id="\d+",/, ''))]);
  return pages;
}

function pathsOf(token: string): string[] {
  return ['check_ins?limit=20', 'alerts?limit=5'].map((what) => `/v1/snitches/${token}/${what}`);
}
