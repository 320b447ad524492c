/** The part of the store for channels; instants are milliseconds since the epoch. */
import type { CaseChannel, ChannelFields, ChannelKind } from '../core/channel.ts';

type Timing = Pick<ChannelFields, 'after' | 'hours'>;

export interface NewChannel {
  kind: ChannelKind;
  /** Null for a name made from the kind. */
  name: string | null;
  /** The channels that the client knows: any other one of this kind and name is refused. Null if names can repeat. */
  known?: readonly string[] | null;
  /** Without `after` and `hours`, alerts are sent at once and always. */
  fields: Omit<ChannelFields, 'name' | keyof Timing> & Partial<Timing>;
}

export interface ChannelStore {
  getChannel(caseId: string, id: string): Promise<CaseChannel | null>;
  /** Newest first. */
  listChannels(caseId: string): Promise<CaseChannel[]>;
}

/** What people do with channels. */
export interface ChannelActs {
  /**
   * @param most how many channels and webhooks together the case can have; no limit if absent
   * @throws Invalid if it has as many already
   */
  createChannel(caseId: string, channel: NewChannel, now: number, most?: number): Promise<CaseChannel>;
  /** Changed settings end a refusal; null if the case has no such channel. */
  updateChannel(caseId: string, id: string, changes: Partial<ChannelFields>): Promise<CaseChannel | null>;
  /** False if the case has no such channel. */
  deleteChannel(caseId: string, id: string): Promise<boolean>;
}
