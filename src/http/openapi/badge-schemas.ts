/** Badges as schemas; the compiler keeps them in step with `api/wire-badge.ts`. */
import { z } from 'zod';
import type { WireBadge } from '../../api/wire-badge.ts';
import { LONGEST_LABEL } from '../../core/badges/badge.ts';
import { text, time } from './snitch-schemas.ts';

export const badge: z.ZodType<WireBadge> = z.object({
  id: text,
  url: text.meta({ description: 'The picture; with .json in the place of .svg what shields.io asks for' }),
  token: text.nullable(),
  tag: text.nullable(),
  name: text.nullable().meta({ description: 'Of the snitch, as it is called now' }),
  public_name: text.nullable().meta({ description: 'Of the snitch; null where others see its name' }),
  label: text
    .nullable()
    .meta({ description: 'Null for the public name of the snitch, or else its name, or the tag' }),
  created_at: time,
});

export const newBadge = z
  .object({
    token: text.meta({ description: 'Of the snitch that it shows' }),
    tag: text.max(100).meta({ description: 'Instead of a token: the worst of the snitches with it' }),
    label: text.max(LONGEST_LABEL).nullable(),
  })
  .partial();
