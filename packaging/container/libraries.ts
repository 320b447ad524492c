/** Finds the libraries that a program needs, even if it is for another architecture. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { wantsOf } from './elf.ts';

export interface Platform {
  /** The architecture as container tools name it. */
  name: 'amd64' | 'arm64';
  /** Where libraries are in the root. The loader of Debian and Ubuntu looks there by default. */
  directory: string;
  /** Where the building host may have the libraries: its own ones, then those of Debian's cross compilers. */
  places: readonly string[];
}

/** By Node's name of the architecture. */
export const PLATFORMS: Readonly<Record<string, Platform>> = {
  x64: platform('amd64', 'x86_64-linux-gnu'),
  arm64: platform('arm64', 'aarch64-linux-gnu'),
};

function platform(name: Platform['name'], triplet: string): Platform {
  return {
    name,
    directory: `/lib/${triplet}`,
    places: [`/lib/${triplet}`, `/usr/lib/${triplet}`, `/usr/${triplet}/lib`],
  };
}

export interface Library {
  /** On the building host. */
  source: string;
  /** Its path in the root. */
  target: string;
}

/**
 * The libraries of a program and those that they need themselves, and the loader.
 *
 * @param places where to look, before the usual places
 * @throws Error if one is not found
 */
export function librariesFor(program: string, on: Platform, places: readonly string[] = []): Library[] {
  const found = new Map<string, Library>();
  const { loader, libraries } = wantsOf(program);
  const look = (name: string) => sourceOf(name, on, [...places, ...on.places]);
  if (loader !== null) found.set(basename(loader), { source: look(basename(loader)), target: loader });
  const open = [...libraries];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    if (found.has(name)) continue;
    const source = look(name);
    found.set(name, { source, target: join(on.directory, name) });
    open.push(...wantsOf(source).libraries);
  }
  return [...found.values()].sort((one, other) => (one.target < other.target ? -1 : 1));
}

function sourceOf(name: string, { name: architecture }: Platform, places: readonly string[]): string {
  const source = places.map((place) => join(place, name)).find(existsSync);
  if (source !== undefined) return source;
  const advice =
    architecture === 'arm64'
      ? 'on another architecture Debian has it in libc6-arm64-cross, libstdc++6-arm64-cross and libatomic1-arm64-cross'
      : 'Debian and Ubuntu have it in libc6, libstdc++6, libgcc-s1 and libatomic1';
  throw new Error(
    `${name} is in none of ${places.join(', ')}: ${advice}, and --libraries names another place`,
  );
}
