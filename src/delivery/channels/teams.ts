/**
 * Microsoft Teams through a workflow. Its answer says only that the workflow was started, not that a card was shown.
 */
import { fitted, jsonBytes } from '../messages/fitted.ts';
import { teamsText } from '../messages/markup.ts';
import { byStatus } from './answers.ts';
import { json, type Service } from './service.ts';

const TITLE = 1_000;
/** Bytes as JSON; the whole message may have 28 KB. */
const TEXT = 12_000;
const COLOURS = { bad: 'attention', good: 'good', plain: 'default' };

export const teams: Service = {
  kind: 'teams',
  chat: { perMinute: 30, gap: 500 },
  requests({ settings: { url = '' }, message }) {
    const title = fitted(message.title, TITLE, { spell: teamsText });
    // Teams breaks lines only at blank lines.
    const text = fitted(message.lines.join('\n\n').replaceAll(/(?<!\n)\n(?!\n)/g, '\n\n'), TEXT, {
      spell: teamsText,
      size: jsonBytes,
    });
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [
        {
          type: 'TextBlock',
          text: title,
          wrap: true,
          weight: 'Bolder',
          size: 'Medium',
          color: COLOURS[message.tone],
        },
        { type: 'TextBlock', text, wrap: true },
      ],
      actions: message.link
        ? [{ type: 'Action.OpenUrl', title: message.link.words, url: message.link.url }]
        : [],
    };
    const attachment = {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: card,
    };
    return [json(url, { type: 'message', summary: title, attachments: [attachment] })];
  },
  meaning: (answer, { now }) => byStatus(answer, { success: [200, 202], now }),
};
