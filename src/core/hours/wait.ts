/**
 * What a delivery waits for before its first attempt: `after` for its time, `hours` for the next opening of its target;
 * both are dropped where what they tell of ends before. `opening`, too, waits for the hours, but is sent in any case.
 */
export type Wait = 'after' | 'hours' | 'opening';
