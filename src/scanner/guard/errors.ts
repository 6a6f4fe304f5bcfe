/** Default message of each reason. The names of reasons never change, because clients compare them. */
const REFUSAL_MESSAGES = {
  not_a_string_or_too_long: 'The URL must be text of at most 2048 characters.',
  control_space_or_backslash:
    'The URL holds a space, a control character or a backslash: remove it, or percent-encode it in the path.',
  scheme_or_form: 'Give an https URL such as https://api.example.com, or a bare host name.',
  userinfo: 'The URL carries user information before "@": give only the host.',
  parse_error: 'The URL cannot be parsed: give one such as https://api.example.com.',
  percent_in_host: 'The host is percent-encoded: give it in plain characters.',
  port: 'The port is not allowed: origins are scanned on port 443.',
  host_too_long: 'The host name has more than 253 characters.',
  bad_label:
    'The host name has a label that is empty, over 63 characters, starts or ends with a hyphen, or holds other characters than letters, digits and hyphens.',
  special_use_name: 'The host is a special-use name that does not exist on the public internet.',
  single_label:
    'The host is a single label, not a full name: give a public name such as api.example.com.',
  blocked_ip:
    'The host is, or resolves to, an address that is not on the public internet: give a public host.',
};

export type RefusalReason = keyof typeof REFUSAL_MESSAGES;

/** The scanner refuses the input or host before anything is charged. The API answers 400. */
export class OriginRefused extends Error {
  readonly code = 'invalid_url';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string = REFUSAL_MESSAGES[reason]) {
    super(message);
    this.name = 'OriginRefused';
    this.reason = reason;
  }
}
