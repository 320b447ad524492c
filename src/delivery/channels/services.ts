/** All kinds of services that are reached over HTTP. */
import { alertmanager } from './alertmanager.ts';
import { apprise } from './apprise.ts';
import { discord } from './discord.ts';
import { googleChat } from './google-chat.ts';
import { gotify } from './gotify.ts';
import { matrix } from './matrix.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { pushover } from './pushover.ts';
import { rocketchat } from './rocketchat.ts';
import type { Service } from './service.ts';
import { slack } from './slack.ts';
import { splunkOncall } from './splunk-oncall.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { zulip } from './zulip.ts';

export const SERVICES: readonly Service[] = [
  ntfy,
  gotify,
  pushover,
  slack,
  mattermost,
  discord,
  teams,
  googleChat,
  rocketchat,
  zulip,
  telegram,
  matrix,
  pagerduty,
  opsgenie,
  splunkOncall,
  alertmanager,
  apprise,
];
