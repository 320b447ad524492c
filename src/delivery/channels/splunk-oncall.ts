/** Splunk On-Call through its REST integration: an outage is one entity. */
import { SECOND } from '../../text/durations.ts';
import { fitted } from '../messages/fitted.ts';
import { wholeText } from '../messages/service-message.ts';
import { byStatus, fieldsOf, refusal } from './answers.ts';
import { keyOf, stepsOf } from './incident-words.ts';
import { json, type Service } from './service.ts';

const STATE_MESSAGE = 15_000;

export const splunkOncall: Service = {
  kind: 'splunk_oncall',
  chat: null,
  gap: 250,
  requests(post) {
    const { settings, message, incident, isTest } = post;
    return stepsOf(post).map((step) =>
      json(settings.url ?? '', {
        message_type: step === 'close' ? 'RECOVERY' : isTest ? 'INFO' : 'CRITICAL',
        entity_id: keyOf(post),
        entity_display_name: fitted(message.title, 250),
        state_message: fitted(wholeText(message), STATE_MESSAGE),
        state_start_time: Math.floor(incident.since / SECOND),
        monitoring_tool: 'Snitch',
        ...(message.link ? { 'vo_annotate.u.Snitch': message.link.url } : {}),
      }),
    );
  },
  meaning(answer, { now }) {
    if (answer.status === 200 && fieldsOf(answer).result === 'failure') return refusal(answer);
    return byStatus(answer, { success: [200], now });
  },
};
