/** Which snitches of a very large case an apply keeps in memory. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '../../../src/api/client.ts';
import type { WireOwnership, WireSnitch } from '../../../src/api/wire.ts';
import { presentFor } from '../../../src/cli/file/apply-check.ts';

const test = suite('what a file concerns');

const ALL = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, token: `token-${name}` }) as WireSnitch);
const OWNERSHIP: WireOwnership[] = [
  { token: 'token-c', owner: 'mine' },
  { token: 'token-d', owner: 'theirs' },
];

/** The names that are kept for a file of the owner `mine`. */
async function kept(entries: { name: string; token?: string; needsNamed?: string[] }[]): Promise<string[]> {
  const client = {
    getCase: async () => ({}),
    listOwnership: async () => OWNERSHIP,
    listSnitches: async (_tags, _name, { keep = () => true } = {}) => ALL.filter(keep),
  } as Pick<Client, 'getCase' | 'listOwnership' | 'listSnitches'> as Client;
  const wanted = entries.map((entry) => ({ token: null, ...entry }) as never);
  return (await presentFor(client, wanted, 'mine')).snitches.map(({ name }) => name);
}

test('those with its names and tokens, and those that its owner has', async () => {
  assert.equal(await kept([{ name: 'a' }, { name: 'other', token: 'token-b' }]), ['a', 'b', 'c']);
  assert.equal(await kept([]), ['c']);
});

test('all, if it says what one of them needs, which may be any other', async () => {
  assert.equal(await kept([{ name: 'a' }, { name: 'b', needsNamed: ['e'] }]), ['a', 'b', 'c', 'd', 'e']);
});

test.run();
