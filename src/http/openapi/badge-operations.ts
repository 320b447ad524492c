/** The operations on badges. */
import { z } from 'zod';
import * as badges from './badge-schemas.ts';
import type { Operation } from './document.ts';

export const BADGE_OPERATIONS: Record<string, Record<string, Operation>> = {
  '/v1/badges': {
    get: { id: 'listBadges', summary: 'List badges', answer: z.array(badges.badge) },
    post: {
      id: 'createBadge',
      summary: 'Make a badge: a public picture of how a snitch or a tag is',
      body: badges.newBadge,
      answer: badges.badge,
    },
  },
  '/v1/badges/{id}': {
    get: { id: 'getBadge', summary: 'Read a badge', answer: badges.badge },
    delete: { id: 'deleteBadge', summary: 'Take a badge away', answer: null },
  },
};
