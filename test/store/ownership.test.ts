/** Snitches that bring their own tokens, in batches, and the files that own them. */
import * as assert from 'uvu/assert';
import { Invalid, NotFound, PlanLimitReached } from '../../src/core/errors.ts';
import type { ImportedSnitch } from '../../src/store/ownership.ts';
import { checkIn, contract, MINUTE, NOW, newCase, newSnitch, rejection, snitchOf } from './fixture.ts';

function imported(token: string | null, changes: Partial<ImportedSnitch> = {}): ImportedSnitch {
  const fields = { name: 'nightly', notes: 'n', tags: ['a'], alertEmail: ['ann@example.com'] };
  return { ...fields, interval: 'daily', alertType: 'basic', token, ...changes };
}

async function invalidOn(promise: Promise<unknown>): Promise<string[]> {
  const error = await rejection(promise);
  assert.instance(error, Invalid);
  return (error as Invalid).validations.map(({ attribute, message }) => `${attribute} ${message}`);
}

const SLICE = { after: 0, limit: 100 };

contract('imports and ownership', (test) => {
  test('an imported snitch keeps its token, or gets one, and awaits its first check-in', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const batch = { imported: [imported('my-token-1'), imported(null)], owner: null };
    const [named, made, ...others] = await store.importSnitches(owner.id, batch, NOW);
    assert.equal(others, []);
    assert.is(named?.token, 'my-token-1');
    assert.match(made?.token ?? '', /^[a-z0-9]{10,}$/i);
    for (const snitch of [named!, made!]) {
      assert.equal(await snitchOf(store, owner, snitch.token), snitch);
      assert.equal([snitch.caseId, snitch.createdAt, snitch.state.status], [owner.id, NOW, 'pending']);
      assert.equal([snitch.name, snitch.tags, snitch.alertEmail], ['nightly', ['a'], ['ann@example.com']]);
    }
    assert.is(await checkIn(store, 'my-token-1', NOW + MINUTE), true);
    assert.equal(await store.listOwnership(owner.id, SLICE), { owned: [], next: null });
  });

  test('if tokens are taken, whichever case has them, all are named and nothing is created', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    await store.importSnitches(other.id, { imported: [imported('taken-1')], owner: null }, NOW);
    const own = await newSnitch(store, owner);
    const batch = [imported('free-one'), imported('taken-1'), imported(null), imported(own.token)];
    const refused = await invalidOn(store.importSnitches(owner.id, { imported: batch, owner: 'file' }, NOW));
    assert.equal(refused, ['snitches[1].token is taken', 'snitches[3].token is taken']);
    assert.is(await store.ownerOfToken('free-one'), null);
    assert.is(await store.ownerOfToken('taken-1'), other.id);
    assert.is(await store.ownerOfToken(own.token), owner.id);
  });

  test('if two import the same names at once, one creates them and the other hears which are taken', async ({
    store,
  }) => {
    const owner = await newCase(store, { maxSnitches: 3 });
    const batch = { imported: [imported(null, { name: 'a' }), imported(null, { name: 'b' })], owner: 'web' };
    const tried = await Promise.allSettled(
      [1, 2].map(() => store.importSnitches(owner.id, { ...batch, known: [] }, NOW)),
    );
    assert.equal(tried.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const [refused] = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    const taken = 'is that of another one, which the request does not know of';
    const told = await invalidOn(Promise.reject(refused as Error));
    assert.equal(told, [`snitches[0].name ${taken}`, `snitches[1].name ${taken}`]);
    assert.is(await store.roomForSnitches(owner.id), 1);
  });

  test('a name may repeat where the client knows of the other one, brings a token, or another file or case has it', async ({
    store,
  }) => {
    const owner = await newCase(store);
    const known = (tokens: string[]) => ({ imported: [imported(null)], owner: 'web', known: tokens });
    const [first] = await store.importSnitches(owner.id, known([]), NOW);
    const [second] = await store.importSnitches(owner.id, known([first!.token]), NOW);
    assert.instance(await rejection(store.importSnitches(owner.id, known([second!.token]), NOW)), Invalid);
    await store.importSnitches(owner.id, { ...known([]), imported: [imported('own-token-1')] }, NOW);
    await store.importSnitches(owner.id, { ...known([]), owner: 'other' }, NOW);
    await store.importSnitches(owner.id, { ...known([]), owner: null }, NOW);
    const nobody = store.importSnitches(owner.id, { ...known([]), owner: 'third' }, NOW);
    assert.instance(await rejection(nobody), Invalid, 'what nobody keeps would have been adopted');
    await store.importSnitches(owner.id, { imported: [imported(null)], owner: 'web' }, NOW);
    await store.importSnitches((await newCase(store)).id, known([]), NOW);
  });

  test('a batch that the plan has no room for is refused as a whole', async ({ store }) => {
    const owner = await newCase(store, { maxSnitches: 3 });
    await newSnitch(store, await newCase(store));
    await newSnitch(store, owner);
    assert.is(await store.roomForSnitches(owner.id), 2);
    const batch = (count: number) => ({
      imported: Array.from({ length: count }, () => imported(null)),
      owner: null,
    });
    assert.instance(await rejection(store.importSnitches(owner.id, batch(3), NOW)), PlanLimitReached);
    assert.is(await store.roomForSnitches(owner.id), 2);
    assert.is((await store.importSnitches(owner.id, batch(2), NOW)).length, 2);
    assert.is(await store.roomForSnitches(owner.id), 0);
    await store.updateCase(owner.id, { maxSnitches: 1 }, NOW);
    assert.is(await store.roomForSnitches(owner.id), 0, 'never less than none');
    await store.updateCase(owner.id, { maxSnitches: null }, NOW);
    assert.is(await store.roomForSnitches(owner.id), null);
    assert.is((await store.importSnitches(owner.id, batch(3), NOW)).length, 3);
  });

  test('a file keeps what it made, takes what is free, and nothing of another file', async ({ store }) => {
    const owner = await newCase(store);
    await store.importSnitches(
      owner.id,
      { imported: [imported('first-1'), imported('second-1')], owner: 'a' },
      NOW,
    );
    const free = await newSnitch(store, owner);
    const other = await newSnitch(store, owner);
    await store.setOwnership(owner.id, [other.token], 'b');
    const owned = async () => (await store.listOwnership(owner.id, SLICE)).owned;
    const before = await owned();
    assert.equal(before, [
      { token: 'first-1', owner: 'a' },
      { token: 'second-1', owner: 'a' },
      { token: other.token, owner: 'b' },
    ]);
    assert.equal(await invalidOn(store.setOwnership(owner.id, [free.token, other.token], 'a')), [
      `owner ${other.token} belongs to another owner`,
    ]);
    assert.instance(await rejection(store.setOwnership(owner.id, [free.token, 'no-such-1'], 'a')), NotFound);
    assert.equal(await owned(), before, 'all or none');
    await store.setOwnership(owner.id, ['first-1', free.token], 'a');
    await store.setOwnership(owner.id, ['second-1', other.token], null);
    assert.equal(await owned(), [
      { token: 'first-1', owner: 'a' },
      { token: free.token, owner: 'a' },
    ]);
  });

  test('a file has no say in another case', async ({ store }) => {
    const owner = await newCase(store);
    const other = await newCase(store);
    await store.importSnitches(owner.id, { imported: [imported('first-1')], owner: 'a' }, NOW);
    assert.instance(await rejection(store.setOwnership(other.id, ['first-1'], null)), NotFound);
    assert.equal(await store.listOwnership(other.id, SLICE), { owned: [], next: null });
    const change = { token: 'first-1', changes: { name: 'x' } };
    assert.instance(await rejection(store.updateSnitches(other.id, [change], NOW)), NotFound);
    await store.deleteSnitches(other.id, ['first-1']);
    assert.is((await snitchOf(store, owner, 'first-1')).name, 'nightly');
  });

  test('what a file keeps is listed in slices, in order of creation', async ({ store }) => {
    const owner = await newCase(store);
    const tokens = ['token-a', 'token-b', 'token-c', 'token-d'];
    await store.importSnitches(
      owner.id,
      { imported: tokens.map((token) => imported(token)), owner: 'a' },
      NOW,
    );
    await store.setOwnership(owner.id, ['token-b'], null);
    const listed: string[][] = [];
    let after: number | null = 0;
    while (after !== null) {
      const slice = await store.listOwnership(owner.id, { after, limit: 2 });
      listed.push(slice.owned.map(({ token }) => token));
      after = slice.next;
    }
    assert.equal(listed, [['token-a'], ['token-c', 'token-d'], []]);
  });

  test('a change of many snitches is made for all or none', async ({ store }) => {
    const owner = await newCase(store);
    const [first, second] = [await newSnitch(store, owner), await newSnitch(store, owner)];
    const renamed = (token: string, name: string) => ({ token, changes: { name } });
    const changed = await store.updateSnitches(
      owner.id,
      [renamed(first.token, 'one'), renamed(second.token, 'two')],
      NOW,
    );
    assert.equal(changed, [
      await snitchOf(store, owner, first.token),
      await snitchOf(store, owner, second.token),
    ]);
    assert.equal(
      changed.map(({ name }) => name),
      ['one', 'two'],
    );
    const gone = [renamed(first.token, 'three'), renamed('no-such-1', 'four')];
    assert.instance(await rejection(store.updateSnitches(owner.id, gone, NOW)), NotFound);
    assert.is((await snitchOf(store, owner, first.token)).name, 'one');
    await store.deleteSnitches(owner.id, [first.token, 'no-such-1', second.token]);
    assert.is(await store.getSnitch(owner.id, first.token), null);
    assert.is(await store.getSnitch(owner.id, second.token), null);
  });
});
