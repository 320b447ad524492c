/** The error types of the API (`spec §7`, `decisions: Beyond the contract`), made where they are known. */

export interface Validation {
  attribute: string;
  message: string;
}

/** The stable `type` of an error body. */
export type ErrorType =
  | 'api_key_invalid'
  | 'api_key_forbidden'
  | 'origin_forbidden'
  | 'plan_limit_reached'
  | 'account_on_hold'
  | 'resource_not_found'
  | 'method_not_allowed'
  | 'request_too_large'
  | 'resource_invalid'
  | 'rate_limited'
  | 'internal_error'
  | 'service_unavailable';

/** An error that is reported to a client. The HTTP layer turns its type into a status, in one place. */
export class SnitchError extends Error {
  readonly type: ErrorType;
  override readonly name = 'SnitchError';

  constructor(type: ErrorType, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

export class NotFound extends SnitchError {
  constructor(message = 'The resource does not exist or is not in this case.') {
    super('resource_not_found', message);
  }
}

export class PlanLimitReached extends SnitchError {
  constructor() {
    super(
      'plan_limit_reached',
      'The case has as many snitches as its plan allows. Delete one, or raise the limit.',
    );
  }
}

export class Invalid extends SnitchError {
  readonly validations: readonly Validation[];

  constructor(validations: readonly Validation[]) {
    // Many clients show only the message.
    const [first] = validations;
    const inWords = first ? `: ${first.attribute} ${first.message}` : '.';
    super('resource_invalid', `Some values are missing or incorrect${inWords}`);
    this.validations = validations;
  }
}

/** The request body is not JSON: the answer has no body (`spec §4` rule 5). */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/** The store cannot write now (disk full, read-only); nothing of the request was stored, and trying again may help. */
export class StoreUnavailable extends SnitchError {
  constructor(cause: unknown) {
    super('service_unavailable', 'The service cannot store anything at the moment. Try again later.', {
      cause,
    });
  }
}
