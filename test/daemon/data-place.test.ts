/** Which file systems can hold a database. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concernOfPlace, inWords } from '../../src/daemon/data-place.ts';
import { isMounted } from '../../src/system/container.ts';
import { ownDirectory } from '../data-directory.ts';

const test = suite('the place of the data');

const EXT4 = 0xef53;
const TMPFS = 0x01021994;
const OVERLAY = 0x794c7630;
const NFS = 0x6969;

test('it warns about a network file system, wherever the daemon runs', () => {
  for (const inContainer of [true, false]) {
    const concern = inWords('/data', { type: NFS, inContainer, inImage: false });
    assert.match(concern?.message ?? '', '/data is on a network file system (NFS)');
    assert.is(concern?.refused, false, 'who knows better may go on');
  }
});

test('in a container, it warns about a directory without a volume', () => {
  const own = inWords('/data', { type: OVERLAY, inContainer: true, inImage: true });
  assert.match(own?.message ?? '', 'in the container itself');
  assert.is(own?.remedy, 'mount a volume at /data');
  const inMemory = inWords('/data', { type: TMPFS, inContainer: true, inImage: false });
  assert.match(inMemory?.message ?? '', 'in memory');
});

test('a volume on a disk, and any directory of a host, is good', () => {
  assert.is(inWords('/data', { type: EXT4, inContainer: true, inImage: false }), null);
  assert.is(inWords('/data', { type: EXT4, inContainer: false, inImage: true }), null);
  assert.is(inWords('/data', { type: TMPFS, inContainer: false, inImage: false }), null);
});

test('what is mounted at the directory or above it keeps the data', () => {
  const root = '1 0 0:30 / / ro - overlay overlay rw';
  const mounts = (place: string) => `${root}\n2 1 254:0 /volumes/x ${place} rw - ext4 /dev/vda rw\n`;
  assert.is(isMounted('/var/lib/snitch', `${root}\n`), false);
  for (const place of ['/var/lib/snitch', '/var/lib'])
    assert.is(isMounted('/var/lib/snitch', mounts(place)), true, place);
  assert.is(isMounted('/var/lib/snitch', mounts('/var/lib/sni')), false);
  assert.is(isMounted('/my data', mounts('/my\\040data')), true);
});

test('it examines a real directory, and ignores one that does not exist yet', () => {
  using directory = ownDirectory();
  assert.not.match(concernOfPlace(directory.path)?.message ?? '', 'network');
  assert.is(concernOfPlace('/nowhere/at/all'), null);
});

test.run();
