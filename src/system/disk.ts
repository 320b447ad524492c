/** How much room there is, and how much files take. */
import { stat, statfs } from 'node:fs/promises';

/** In bytes; null if the system does not say. */
export async function roomAt(directory: string): Promise<{ free: number; size: number } | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return null;
  }
}

/** The total size in bytes, without files that do not exist; null if none does. */
export async function sizeOfFiles(paths: readonly string[]): Promise<number | null> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  const sizes = found.filter((one) => one !== null).map(({ size }) => size);
  return sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0);
}
