/** The texts that are stored as JSON. Most lists of a snitch are empty, which needs no parsing. */
export function textsIn(json: string): string[] {
  return json === '[]' ? [] : (JSON.parse(json) as string[]);
}
