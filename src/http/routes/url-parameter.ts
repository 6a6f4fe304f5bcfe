/** The parameter that names an origin. */
import { Type } from 'typebox';

const DESCRIPTION =
  'An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped.';

/** The origin a request is about; what counts as one is `parseOrigin`'s to say. */
export const urlParameter = Type.String({ description: DESCRIPTION });
