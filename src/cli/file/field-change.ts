/** A change that an apply makes to one field. */
export interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Fields that `to` leaves out are not compared. */
export function differences<Field extends string>(
  fields: readonly Field[],
  from: Readonly<Partial<Record<Field, unknown>>>,
  to: Readonly<Partial<Record<Field, unknown>>>,
): FieldChange[] {
  return fields
    .filter((field) => to[field] !== undefined && JSON.stringify(from[field]) !== JSON.stringify(to[field]))
    .map((field) => ({ field, from: from[field], to: to[field] }));
}
