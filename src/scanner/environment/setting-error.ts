import { redact } from '../model/redact.ts';

const SECRET_SETTINGS: readonly string[] = [
  'SETTLEMENT_KEY',
  'CDP_API_KEY_ID',
  'CDP_API_KEY_SECRET',
  'SIGNING_KEY',
];
/** URLs of nodes and facilitators often have an API key in their path. */
const URLS_WITH_KEYS: readonly string[] = ['RPC_URL', 'SOLANA_RPC_URL', 'FACILITATOR_URL'];
const MAX_SHOWN_CHARS = 200;

/** Stops the start of the service or of a command. The message is one line for the operator. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  constructor(setting: string, value: string | undefined, accepted: string) {
    super(
      value === undefined
        ? `${setting} is not set: ${accepted}.`
        : `${setting}=${toPrintable(setting, value)} is not accepted: give ${accepted}.`,
    );
  }
}

/** Quotes a value on one line and hides secrets, because logs and terminals show this text. */
function toPrintable(setting: string, value: string): string {
  if (SECRET_SETTINGS.includes(setting)) return `(hidden, ${value.length} characters)`;
  const withoutSecrets = URLS_WITH_KEYS.includes(setting)
    ? redact(value)
    : value.replace(/\/\/[^/@]*@/, '//(hidden)@');
  return JSON.stringify(withoutSecrets.slice(0, MAX_SHOWN_CHARS));
}
