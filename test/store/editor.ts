/** Renames a snitch again and again, until it is killed. The third argument and those after it are tokens. */
import { openStore } from './acting.ts';

const [dataDir = '', caseId = '', ...tokens] = process.argv.slice(2);
const store = openStore({ dataDir, clock: Date.now });
for (let round = 0; ; round += 1) {
  await Promise.all(
    tokens.map((token) => store.updateSnitch(caseId, token, { name: `round ${round}` }, Date.now())),
  );
  if (round === 0) process.stdout.write('edited\n');
}
