/** What has changed since it was last shown, so that a long life fits into a text that people can read. */
export class Differences {
  readonly #shown = new Map<string, ReadonlyMap<string, string>>();

  /**
   * The fields that differ from those of the same thing when it was last shown. Something new is compared with the last
   * new thing of its shape.
   *
   * @param fields their values as text
   * @returns `field value` for each, and `-field` for those that are gone
   */
  of(shape: string, id: string, fields: ReadonlyMap<string, string>): { isNew: boolean; changed: string[] } {
    const key = `${shape} ${id}`;
    const before = this.#shown.get(key);
    const compared = before ?? this.#shown.get(shape) ?? new Map<string, string>();
    this.#shown.set(key, fields);
    if (!before) this.#shown.set(shape, fields);
    const changed = [...fields].flatMap(([name, text]) =>
      compared.get(name) === text ? [] : [`${name} ${text}`],
    );
    const gone = [...compared.keys()].filter((name) => !fields.has(name)).map((name) => `-${name}`);
    return { isNew: !before, changed: [...changed, ...gone] };
  }

  /** @returns whether it had been shown */
  forget(shape: string, id: string): boolean {
    return this.#shown.delete(`${shape} ${id}`);
  }
}
