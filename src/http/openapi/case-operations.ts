/** The operations on the case of a key, and those of an admin key on all cases. */
import { z } from 'zod';
import type { Operation } from './document.ts';
import { caseAudience } from './explanation-schemas.ts';
import * as schemas from './schemas.ts';

export const CASE_OPERATIONS: Record<string, Record<string, Operation>> = {
  '/v1/case': {
    get: { id: 'getCase', summary: 'Read the case', answer: schemas.caseRecord },
    patch: {
      id: 'updateCase',
      summary: 'Change the case',
      body: schemas.caseChanges,
      answer: schemas.caseRecord,
    },
  },
  '/v1/audience': {
    get: {
      id: 'getAudience',
      summary: 'Read whom alerts of the case reach, and which snitches alert nobody',
      query: ['unreached'],
      answer: caseAudience,
    },
  },
  '/v1/cases': {
    get: { id: 'listCases', summary: 'List cases (admin)', answer: z.array(schemas.caseRecord) },
    post: {
      id: 'createCase',
      summary: 'Create a case (admin)',
      body: schemas.newCase,
      answer: schemas.caseRecord,
    },
  },
  '/v1/cases/{id}': {
    get: { id: 'getCaseById', summary: 'Read a case (admin)', answer: schemas.caseRecord },
    patch: {
      id: 'updateCaseById',
      summary: 'Change a case (admin)',
      body: schemas.adminCaseChanges,
      answer: schemas.caseRecord,
    },
    delete: { id: 'deleteCase', summary: 'Delete a case with all its snitches (admin)', answer: null },
  },
  '/v1/cases/{id}/api_keys': {
    get: {
      id: 'listApiKeysOfCase',
      summary: 'List the API keys of a case (admin)',
      answer: z.array(schemas.apiKey),
    },
    post: {
      id: 'createApiKeyForCase',
      summary: 'Create an API key for a case (admin)',
      body: schemas.newApiKey,
      answer: schemas.createdApiKey,
    },
  },
};
