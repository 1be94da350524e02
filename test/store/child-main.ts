/**
 * Another process that uses the same database.
 *
 * grant <url> <max> <id...>  grants slots ten times at once, prints the ids it got
 * open <url>                 opens the store, prints its dialect, or the setting that it was refused for
 * save <url> <id> <times>    saves an actor that often, prints each rev once it is saved
 */
import { RefusedError } from '../../src/errors.js';
import { openStore } from '../../src/store/open.js';

const [command, url = '', first = '', ...rest] = process.argv.slice(2);
const store = await openStore(url).catch((error: unknown) => {
  if (!(error instanceof RefusedError)) throw error;
  console.log(`refused: ${error.setting}`);
  process.exit();
});

if (command === 'open') console.log(store.dialect);

if (command === 'grant') {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => store.grantSlots(rest, Number(first), '{}')),
  );
  console.log(answers.flatMap((answer) => answer.granted).join(' '));
}

if (command === 'save') {
  const next = { machine: 'session', version: 1, snapshot: '{}', state: 's', episode: 1, holdsSlot: false };
  await store.enroll(first, next, null, 1);
  await store.take(first, 'child', 600_000);
  for (let rev = 0; rev < Number(rest[0]); rev += 1) {
    const journal = { at: rev, event: '{}', from: 's', to: 's', context: '{}' };
    const hold = { id: first, owner: 'child', rev };
    if (!(await store.save(hold, { next, journal, newsTaken: [], at: rev }))) throw new Error('not saved');
    console.log(rev + 1);
  }
}

await store.close();
