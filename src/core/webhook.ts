/** An address that a case's alerts are sent to, signed with a secret of its own. */
export interface Webhook {
  id: string;
  caseId: string;
  /** With credentials, if it was given with any: never to be shown or logged. */
  url: string;
  secret: string;
  /** The secret before the last rotation, and until when it also signs. */
  previousSecret: string | null;
  previousSecretUntil: number | null;
  /** Whether it also gets notices about the service itself (`service.blind`). */
  notices: boolean;
  createdAt: number;
}
