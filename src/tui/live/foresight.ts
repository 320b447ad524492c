/** Asks the server when a schedule would be due, while somebody types it. */
import { ApiError, type Client } from '../../api/client.ts';
import type { Foreseen, Question } from '../model/foreseen.ts';

/** How long typing must pause before the server is asked, in milliseconds. */
const REST = 250;

export interface ForesightParts {
  /** Should not wait even if the server asks it to: the answer is wanted now. */
  client: Pick<Client, 'checkSchedule'>;
  tell: (foreseen: Foreseen) => void;
  rest?: number;
}

interface Asked {
  asked: string;
  question: Question;
}

/** Asks one question at a time. Of those that arrive meanwhile, only the last one is asked. */
export class Foresight {
  readonly #parts: ForesightParts;
  #next: Asked | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;

  constructor(parts: ForesightParts) {
    this.#parts = parts;
  }

  ask(next: Asked): void {
    this.#next = next;
    this.stop();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#askNext();
    }, this.#parts.rest ?? REST);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #askNext(): Promise<void> {
    if (this.#isAsking || this.#next === null) return;
    const { asked, question } = this.#next;
    this.#next = null;
    this.#isAsking = true;
    this.#parts.tell(await this.#answerTo(asked, question));
    this.#isAsking = false;
    if (this.#timer === null) await this.#askNext();
  }

  async #answerTo(asked: string, question: Question): Promise<Foreseen> {
    const foreseen: Foreseen = { asked, answer: null, validations: [], error: null, isUnknown: false };
    if ('problems' in question) {
      const validations = Object.entries(question.problems).map(([attribute, message]) => ({
        attribute,
        message,
      }));
      return { ...foreseen, validations };
    }
    try {
      return { ...foreseen, answer: await this.#parts.client.checkSchedule(question.input) };
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof ApiError)) return { ...foreseen, error: message };
      const isUnknown = error.status === 404 || error.status === 405;
      return { ...foreseen, error: message, validations: error.body?.validations ?? [], isUnknown };
    }
  }
}
