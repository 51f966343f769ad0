/** Reasons of the agent, not of a recording's format. They are stable, because people and programs rely on them. */
export const SET_ASIDE_CODE = "EndsAgent";
export const PARTLY_LISTED_CODE = "PartlyListed";
