/** Switches a status page on, and reads it as other programs do. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { WireStatusPage } from '../../../../src/api/status-page.ts';
import { ok } from '../../expect.ts';
import type { Fixture } from '../../fixture.ts';

export interface Line {
  name: string;
  state: string;
  since: string | null;
  until: string | null;
  marks: string[];
}

export interface Shown {
  all_well: boolean;
  counts: Record<string, number>;
  total: number;
  left_out: number;
  groups: { name: string | null; snitches: Line[] }[];
}

export async function put(
  { acme }: Pick<Fixture, 'acme'>,
  changes: Record<string, unknown> = {},
): Promise<WireStatusPage> {
  return ok(await acme.write.put('/v1/status_page', { slug: 'acme', tags: ['public'], ...changes }));
}

export async function pageOf({ nobody }: Pick<Fixture, 'nobody'>, slug = 'acme'): Promise<Shown> {
  const answer = await nobody.get(`/s/${slug}.json`);
  assert.is(answer.status, 200, answer.text);
  return answer.json<Shown>();
}

/** Asks until the page shows it, for 15 seconds at most. @returns what the page showed last */
export async function shownWhen(
  context: Pick<Fixture, 'nobody'>,
  isShown: (page: Shown) => boolean,
): Promise<Shown> {
  let page = await pageOf(context);
  for (let tries = 0; tries < 300 && !isShown(page); tries += 1) {
    await sleep(50);
    page = await pageOf(context);
  }
  return page;
}
