import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

/** Orders that callers give to an agent: the first word of one. */
const orders =
  'book|reserve|send|transfer|pay|order|make|schedule|set|add|delete|remove|call|put|start|submit|sign|register|confirm|activate|block|update|connect|arrange|buy|sell|go|try|use|take|give|get|open|close|finish|complete|process|continue|place|move|charge|refund|renew|email|text|ship|deliver|print|save|note|check|issue|approve|enter|switch|turn|bring|proceed|lock|unlock|forward|extend|accept|apply|create|enroll|release|return|deal|carry';

export const english: Language = {
  code: 'en',
  name: 'English',
  lines: {
    fillers: ['One moment.', 'Let me check.', 'Just a second.', 'Bear with me.'],
    apology: 'Sorry, something went wrong on my side. Could you say that again?',
    misheard: 'Sorry, I did not catch that. Could you say it again?',
    farewell: 'Goodbye.',
    hold: 'I am still having trouble. Please stay on the line.',
    back: 'Thank you for waiting.',
    unheardNote: '[The caller has not heard your answer. Give it now.]',
    announcement: 'Sorry, something went wrong. Please wait, or call again later.',
    idleQuestion: 'Are you still there?',
    confirmQuestion: 'Shall I go ahead with that?',
    keysNote: '[The caller pressed the keys: {digits}]',
    returnLine: 'Sorry, nobody could take your call. How else can I help?',
    operatorLost: 'Sorry, my colleague is gone. I am with you again. How can I help?',
  },
  backchannels: listed(
    'okay|ok|kay|mkay|mmkay|right|yeah|yea|ya|yah|yep|yup|yes|sure|sure thing|alright|all right|i see|got it|gotcha',
    "i got it|i hear you|i understand|understood|of course|makes sense|that makes sense|sounds good|fair enough|that's right|that's true",
    'exactly|absolutely|definitely|certainly|great|good|cool|nice|perfect|fine|true|very good|wow|go on|go ahead',
    'no problem|no worries|not bad',
  ),
  nods: {
    core: spaced(
      'really interesting good great nice lovely wonderful brilliant awesome amazing fantastic excellent super superb cool perfect fine fair true',
      'right correct sure ok okay alright yeah yep yup yes exactly absolutely totally definitely certainly indeed naturally obviously clearly clear',
      'helpful useful handy convenient reassuring reasonable sensible logical ideal happy glad pleased delighted relief relieved understand',
      'understood understandable agree agreed believe thought figured imagine imagined sense works sounds wow whoa gosh goodness dear god lord',
      'heavens seriously wild crazy funny impressive beautiful gorgeous splendid marvellous marvelous terrific incredible unbelievable fabulous neat',
      'sweet phew know see gotcha surprising strange odd thankfully luckily fortunately brill grand genius adorable love proper solid thrilled',
      'excited curious intriguing fascinating remarkable',
      'bravo yay hooray hurray whew yikes ouch oops crikey blimey jeez ooh aww clever smart magnificent spectacular stunning',
      'kind thoughtful generous gracious considerate convincing completely entirely perfectly fully truly suppose guess reckon assumed gathered knew shocking unfortunate sad tragic hilarious sensational phenomenal outstanding exciting comforting',
      'impressed amazed astonished surprised shocked touched moved flattered honoured honored grateful thankful satisfied convinced comforted amused',
      'forgotten realised realized noticed hoped fab ace decent dandy swell elegant exquisite dreamy cute thrilling',
      'touching moving inspiring encouraging promising refreshing satisfying rewarding enjoyable pleasant delightful charming surreal bizarre insane',
      'unreal heartbreaking bittersweet ironic',
    ),
    light: spaced(
      "thanks thank oh ah well that that's it it's its is was a an the to very so quite pretty rather just too all of course i i'm you your me my",
      "then hear heard point idea news one thing about at does makes make total complete truly there be feels looks seems we're i'd i'll really such",
      "big been had i've",
      'got gosh even better',
      "you're he's she's they're would by something for from with in on he she they we us our his her their would've could've",
      "must've must might may ever aw like sort bit lot load mind will'd it'd that'd ",
      'extremely terribly awfully incredibly remarkably wonderfully',
      'stuff things touch gesture plan choice deal story surprise coincidence service detail view solution',
    ),
    exclaiming: spaced('how'),
    inverting: spaced('is was are do does am were has'),
    wondering: listed(
      'oh really|really now|really|is that so|is that right|is that true|is it|is it really|oh is it|seriously|for real|right|yeah|oh yeah|oh yes|honestly',
    ),
    phrases: listed(
      "oh my|my my|i hear that|i hear ya|oh boy|oh man|good grief|thank you|thanks|no way|no kidding|you don't say|i didn't know that|i had no idea",
      'i did not know that|not at all bad|not too bad|i know what you mean|i see what you mean|i get what you mean|i know right|what a relief',
      'what a surprise|what a shame|what a pity|i understand now|i see now|i get it now|i thought as much|thank goodness|thank god|not a problem',
      "it's no problem|no problem at all|you're right|quite right|you are right|fair enough then|tell me about it|who knew|right on|well well",
      'good for you|i hear you|i can imagine|i can see that|that explains it|that explains a lot|no wonder|love it|i love it|i love that|i like that',
      "i like it|for sure|sounds like a plan|works for me|it sure is|who would have thought|i never knew that|i wasn't aware of that",
      "that's news to me|news to me|you got it|good stuff|great stuff|i'm with you|with you so far|i'm following|i follow|go on then|carry on",
      "i'm listening|i'm still here|still here|fancy that|what do you know|don't worry|no worries at all|not to worry|i get it|i get that|i get you",
      'now i get it|true enough|good enough|fair enough',
      'that helps|that helped|that will help|that helps a lot|there we go|there you go|right you are|noted|duly noted|point taken|message received|roger',
      "roger that|copy that|so i heard|so i've heard|so they say|so it seems|as i thought|just as i thought|i remember|i remember that|i remember now",
      'now i remember|that explains that|i was wondering|i was wondering about that|i suspected as much|i figured as much|i should have known|how about that',
      "would you look at that|imagine that|you bet|too right|i bet|i'll bet|that's a shame|that's a pity|bless you|well i never|my goodness|holy cow",
      "that figures|that'll do|that will do|that suits me|suits me|all good|fair play|lucky me|lucky you|good heavens|good lord|say no more|that's a relief",
      "well done|nice one|good one|good job|good point|great point|good call|poor you|poor thing|no surprise there|that's something|isn't that something",
      "isn't that nice|aren't you kind",
      "got you|got that|just as well|might as well|too bad|that's too bad|what a story|what a mess|what a day|good thing|it's a good thing|a good thing too|i should think so|i thought so|i thought so too|i guess so|i hope so|i believe you|i believe so",
      "that's the one|that's the spirit|that's the thing|a load off my mind|that's a load off my mind|off my chest",
    ),
  },
  goodbyes: listed(
    'bye|bye bye|goodbye|good bye|thanks|thank you|thank you very much|thanks a lot|you too|see you|take care|cheers',
    'good night|have a nice day|have a good day|have a good one|ciao',
  ),
  urgent: spaced('no not nope stop wait hold what who when where why how which pardon sorry'),
  hesitations: spaced(
    'um uh uhm er erm hmm and but or because cause if when the a an to of for with from my your is are was i we into than as',
    'before after until without between',
  ),
  doubtful: spaced(
    'like so then that in on at well about this these those very just maybe plus actually basically',
  ),
  leadingEnd: undefined,
  begun: listed(
    'can you|can i|can we|could you|could i|could we|would you|would i|would we|will you|will i|will we|do you|do i|do we',
    'did you|did i|did we|should you|should i|should we|i need|i want|i have|i think|i mean|we need|we want|we have|we think|we mean',
    "would like|i'd like",
    "for example|for instance|on the other hand|on the one hand|first of all|to be honest|in other words|let's say|speaking of|as far as|in my case|if possible|depending on|the reason is|what happened is|the problem is|the question is",
  ),
  openings: listed(
    'well|so|like|you know|i mean|okay so|ok so|right so|also|basically|actually|anyway',
    'see|you see|look|listen|the thing is|and|but|the|my name is|the name is|my number is',
  ),
  shortQuestions: listed(
    'until when|till when|since when|from when|by when|for how long|for how much|at what time|until what time|what for|where to|where from|from where|with whom|who with|for whom|why not|what else|who else|which one|which ones|on what day|on which day',
  ),
  thinking: listed(
    'let me see|let me think|let me check|let me look|let me look it up|let me look for it|let me find it|let me get it|let me have a look|let me just check|let me just see|let me just think',
    'one moment|one moment please|a moment|just a moment|give me a moment|one second|one sec|a second|a sec|just a second|just a sec|give me a second|one minute|a minute|just a minute|give me a minute',
    'wait|wait a moment|wait a second|wait a minute|wait a sec|hold on|hang on|hold on a second|hang on a second|hold on a moment|bear with me|i have to look|i have to look it up|i have to look for it|i need to look',
    "i need to check|i have to check|i have to think|i need to think|i'm looking|i am looking|i'm thinking|i am thinking|i'm just looking|i'll check|i'll have a look|i'll look|how do i say this|how shall i put it|good question|that's a good question",
    "let's see|let us see|let me see now|let me think about it|let me think about that|let me remember|just a tick|one tick|let me just have a look|how do i put this|how do i put it|how do i say it",
    "just a mo|half a mo|hold the line|hold the line please|it's on the tip of my tongue",
    "on the tip of my tongue|let me grab it|let me grab my card|let me get my card|let me fetch it|i'm just getting it|i am just getting it",
    "i'm just getting my card|i am just getting my card|i'm getting my card|where did i put it|where have i put it|give me one sec",
    'give me one second|give me one moment|one more second|i had it a moment ago|i need a second|i need a moment|i need a minute',
    'can you give me a second|can you give me a moment|can you hold on|could you hold on|let me pull it up|let me open it',
    "be right back|i'll be right back|i will be right back|i'll be back in a second",
  ),
  askingForTime: {
    moments: spaced(
      'second sec secs seconds minute minutes moment moments mo tick ticks jiffy instant patience',
    ),
    granting: spaced(
      'give me just a two couple few more only little short quick can could you have wait hold hang on for with bear half another',
    ),
    own: listed(
      "let me|i need to|i just need to|i have to|i just have to|i must|i'll|i will|i'm|i am|i've got to|i've just got to|i gotta|i should|to|while i",
      'until i',
    ),
    looks: spaced('find finding look looking check checking search searching see verify verifying locate'),
    takes: spaced(
      'fetch fetching grab grabbing get getting open opening pull pulling log logging ask asking dig digging unlock reach bring',
    ),
    things: spaced(
      'card pen pencil paper glasses passport wallet purse letter email mail inbox app id license licence papers paperwork document documents invoice',
      'calendar diary notes notebook receipt envelope folder wife husband partner boss colleague mother mum mom dad father son daughter screen',
    ),
    after: spaced('still it that them this for up first quickly quick real now here just you'),
  },
  corrections: listed(
    'no sorry|sorry no|no i mean|i mean|sorry i mean|sorry i meant|i meant|no wait|wait no|no actually|actually no|or rather|oh sorry|oh no sorry|correction|no no',
  ),
  isLearned: true,
  numbers: {
    asked: String.raw`\b(?:numbers?|digits?|pin|codes?|zip|postcode|iban|serial|extension|spell|spelled|letter by letter)\b|\b(?:phone|account|card|order|reference|booking|tracking|licen[cs]e|passport)\b.*\b(?:number|id)\b|e-?mail`,
    spelled: String.raw`spell|letter by letter`,
    counted: 'digits?|numbers|characters|letters',
    values: spaced(
      'zero/oh/o one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
      'twenty twenty-one twenty-two twenty-three twenty-four twenty-five twenty-six twenty-seven twenty-eight twenty-nine thirty',
    ),
    digits: [],
    tens: spaced('forty fifty sixty seventy eighty ninety'),
    pairs: [],
    double: ['double'],
    triple: ['triple'],
    between: spaced('and dash minus hyphen dot point space um uh er hmm then'),
    mailAsked: 'e-?mail',
    joints: spaced('dot underscore dash hyphen point'),
    ats: ['at'],
  },
  sentences: {
    abbreviations: spaced(
      'mr mrs ms dr prof st no vs etc inc ltd co approx str tel av capt lt sgt rev gov hon jr mt ave blvd dept ext jan feb mar apr jun jul aug sept sep oct nov dec apt ste vol fig sec',
    ),
    lastAbbreviations: spaced('etc jr ave blvd sec'),
    openers: spaced(
      'i you he she it we they the this that these those there here my your our his its and but so if when what how who where why',
      'can could would will shall should do does did is are was were have please then now yes thank thanks',
    ),
    leadsOn: spaced(
      'a an the and or but nor so if as of to in on at by for from with into about than that which who when while because',
      'i you he she it we they my your his her its our their this these those is are was were be been am will would can',
      "could should shall may might must do does did have has had not no don't i'm i'll we'll it's very more",
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'yes|yeah|yep|yup|sure|okay|ok|please do|go ahead|go ahead and|do it|correct|of course|certainly|absolutely',
      "definitely|that's right|that is right|right|fine|confirm|confirmed|i confirm|sounds good",
    ),
    no: listed(
      "no|nope|nah|not|don't|do not|stop|cancel|wait|never|wrong|that's wrong|leave it|hold on",
      'forget it|never mind',
      'absolutely not|certainly not|definitely not|of course not|surely not|obviously not|clearly not|sure not',
    ),
    firmYes: listed('yes|yeah|yep|yup|absolutely|definitely|certainly|of course|go ahead and'),
    order: new RegExp(`^(?:${orders})(?: |$)`, 'u'),
    told: undefined,
    accepts: listed(
      "that'd be great|that'd be good|that'd be nice|that'd be lovely|that'd be perfect|that'd be fine|that'd be wonderful|that'd be helpful|that would be very nice",
      "that would be very kind|that would be very helpful|that would be really nice|that would be really helpful|that's fine|that is fine|that's okay|that is okay",
      "that's ok|that's correct|that is correct|that's what i want|that is what i want|that's what i would like|that is what i would like|that's what i'd like|sounds about right|that sounds about right|you got it|exactly|indeed|go for it|fine by me|you bet|go on|keep going|let's do it|let's do that",
      'let us do that|happy to|id be happy to|as i said|as i said before',
      'i would like that|i would like it|i would like you to|i would love that|i would love it|i would appreciate it|i would appreciate that|i would|id like that|id like it',
      "id like you to|id love that|id love it|i'd appreciate that|i'd appreciate it|i want that|i want it|i want you to|i do want that|i do want it",
      "i agree|i accept|i approve|i'm sure|i am sure|i'm happy with that|i am happy with that|that would be great|that would be good|that would be nice",
      'that would be fine|that would be lovely|that would be perfect|that would be wonderful|that would be helpful|that works|that works for me',
      'works for me|that sounds good|that sounds good to me|sounds good to me|that sounds great to me|that suits me|that sounds great|sounds great|sounds perfect|that will be fine|thatll be fine|that will do|thatll do|you can|you may',
      'you can do that|you may do that|you can go ahead|you may go ahead|can you please|could you please|would you please|will you please',
      'agreed|affirmative|for sure|totally|its fine|it is fine|fine with me|all good|all correct|everything is correct|everything is right|thats all right|thats all correct|thats all fine',
      'if you would|if you could|if you please|by all means|with pleasure|please proceed|proceed|carry on',
    ),
    wishes: listed(
      'id like to|i would like to|id love to|i would love to|i want to|i would like|i want|please i would like to',
    ),
    courtesies: listed(
      'for me|for us|right away|straight away|immediately|thank you for asking|thanks for asking|thank you for your help|thanks for your help',
      'um|uh|er|erm|ah|oh|hm|hmm|well|please|thanks|thank you|thank you so much|thank you very much|many thanks|thanks a lot|thanks a million|thank you kindly|indeed|sir|madam|maam',
      "great|perfect|lovely|wonderful|excellent|good|awesome|cool|nice|brilliant|super|that's great|that's perfect|that's very kind|that's kind of you",
      "that's very kind of you|you're very kind|all right|alright",
    ),
    light: spaced('so it that thats this then i im am is do and just lets said the very much'),
    tellers: spaced('i im ive ill id you youre we were he she they its there theres here my mine our your'),
    openers: spaced('the a an for at on in to with from of by about and also plus as'),
    hedges: spaced(
      'but if unless maybe perhaps think guess suppose except instead actually only first later change',
      'other another different rather after before or what how which when why who where can could would',
      'should will does probably possibly though however until wondering moment second question ask tell know',
      'see understand understood hear heard listening got mean remember still already hello hi speaking supposed sort kind wish hope hoping explain listen remind over minute minutes',
    ),
    details: spaced(
      'one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty half both today tomorrow tonight morning afternoon evening noon',
      'week month next oclock pm monday tuesday wednesday thursday friday saturday sunday people person persons instead too also',
    ),
    noRefusal: listed(
      "no problem|no worries|why not|don't worry|no doubt|not a problem|if you don't mind|i don't mind|no objection|no objections",
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|annul|void|revoke)/u,
        said: listed('cancel|call it off|call off'),
        clear: listed(
          'cancel it|cancel them|please cancel|cancel please|call it off please|please call it off',
        ),
      },
      {
        tool: /(?:^| )(?:stop|halt|pause)/u,
        said: listed('stop|stop it|pause|pause it'),
        clear: listed('please stop it|please pause it|please stop them'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|clear)/u,
        said: listed('delete|remove|erase'),
        clear: listed(
          'delete it|delete them|please delete|remove it|remove them|please remove|erase it|please erase',
        ),
      },
    ],
  },
};
