/** Figures that are only compared within a run: they mean nothing on another machine. */

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function rounded(milliseconds: number): string {
  return `${Math.round(milliseconds)} ms`;
}
