/**
 * Validators of cached third-party answers. A store or file may contain answers written by an older release
 * or by hand, so cached answers are validated like fresh ones.
 */
import { Type } from 'typebox';
import { list, nullable, shape, text } from '../model/shapes.ts';
import {
  bazaarListings,
  indexRow,
  offersOnChain,
  settlementFacts,
} from '../model/third-parties.ts';
import { validator } from './index-answers.ts';

export const isIndexRow = validator(indexRow);
export const isBazaarListings = validator(bazaarListings);
export const isOffersOnChain = validator(offersOnChain);
export const isSettlementFacts = validator(settlementFacts);
export const isVerified = validator(Type.Boolean());
export const isPartners = validator(list(shape({ name: nullable(text), website: text })));
