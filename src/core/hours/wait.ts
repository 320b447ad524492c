/**
 * What a delivery waits for before its first attempt: `after` for its time, `hours` for the next opening of its target;
 * both are dropped if what they report ends before that. `opening` waits for the hours too, but is sent in any case.
 */
export type Wait = 'after' | 'hours' | 'opening';
