/** The building blocks for shapes of answers. */

/** Says in words what is wrong with a value, and where in it; null if nothing is. */
export interface Shape<T = unknown> {
  (value: unknown, at?: string): string | null;
  /** Never set: the compiler infers the type from it. */
  readonly of?: T;
}

export function simple<T>(what: string, fits: (value: unknown) => boolean): Shape<T> {
  return (value, at = '') => (fits(value) ? null : `has no ${what}${at === '' ? '' : ` at ${at}`}`);
}

export const text = simple<string>('text', (value) => typeof value === 'string');
export const number = simple<number>('number', (value) => Number.isFinite(value));
export const flag = simple<boolean>('true or false', (value) => typeof value === 'boolean');
export const time = simple<string>(
  'time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);

/** Stands for an answer that is not JSON but text to be passed on as it is. */
export const PLAIN_TEXT: Shape<string> = () => null;

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, at) => (value === null ? null : shape(value, at));
}

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at) => (value === undefined ? null : shape(value, at));
}

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value, at = '') => {
    if (!Array.isArray(value)) return `has no list${at === '' ? '' : ` at ${at}`}`;
    for (const [index, item] of value.entries()) {
      const fault = shape(item, `${at}[${index}]`);
      if (fault !== null) return fault;
    }
    return null;
  };
}

export function object<T>(fields: { readonly [Field in keyof T]?: Shape<T[Field]> }): Shape<T> {
  const shapes = Object.entries<Shape | undefined>(fields);
  return (value, at = '') => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return `has no object${at === '' ? '' : ` at ${at}`}`;
    }
    for (const [field, shape] of shapes) {
      const fault = shape?.((value as Record<string, unknown>)[field], at === '' ? field : `${at}.${field}`);
      if (fault) return fault;
    }
    return null;
  };
}
