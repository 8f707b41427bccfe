int fwd_placeholder;
