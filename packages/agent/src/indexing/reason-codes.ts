/** Reasons that are ours and not of the recording's format. Stable: people and programs go by them. */
export const SET_ASIDE_CODE = "EndsAgent";
export const PARTLY_LISTED_CODE = "PartlyListed";
