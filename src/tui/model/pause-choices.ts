/** What a pause can be asked to last until. */
export interface PauseChoice {
  label: string;
  /** As `untilOf` understands it; null asks for a text. */
  until: string | null;
}

export const PAUSE_CHOICES: readonly PauseChoice[] = [
  { label: 'its next healthy check-in', until: 'healthy' },
  { label: 'somebody unpauses it', until: 'unpaused' },
  { label: '1 hour from now', until: '1h' },
  { label: '8 hours from now', until: '8h' },
  { label: '1 day from now', until: '1d' },
  { label: '1 week from now', until: '7d' },
  { label: 'another time:', until: null },
];
