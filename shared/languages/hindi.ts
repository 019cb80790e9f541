import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

/** Both scripts stand in every list: STT writes Hindi in Devanagari, or in Latin letters of no fixed spelling. */
export const hindi: Language = {
  code: 'hi',
  name: 'Hindi',
  lines: {
    fillers: ['एक मिनट, कृपया।', 'मैं अभी देखता हूँ।', 'बस एक पल और।', 'कृपया थोड़ा रुकिए।'],
    apology: 'माफ़ कीजिए, कुछ गड़बड़ हो गई। क्या आप फिर से बता सकते हैं?',
    misheard: 'माफ़ कीजिए, मैं समझ नहीं पाया। क्या आप फिर से बता सकते हैं?',
    farewell: 'नमस्ते।',
    hold: 'समस्या अभी भी बनी हुई है। कृपया लाइन पर बने रहिए।',
    back: 'प्रतीक्षा करने के लिए धन्यवाद।',
    unheardNote: '[कॉल करने वाले ने आपका उत्तर नहीं सुना। अब उत्तर दीजिए।]',
    announcement: '',
    idleQuestion: 'क्या आप लाइन पर हैं?',
    confirmQuestion: 'क्या मैं यह कर दूँ?',
    keysNote: '[कॉल करने वाले ने ये बटन दबाए: {digits}]',
    returnLine: 'माफ़ कीजिए, आपकी कॉल कोई नहीं ले सका। मैं और क्या मदद कर सकता हूँ?',
    operatorLost: 'माफ़ कीजिए, मेरे साथी का संपर्क टूट गया। मैं फिर से आपके साथ हूँ। मैं क्या मदद कर सकता हूँ?',
  },
  backchannels: listed(
    'हाँ|हां|हा|हाँ हाँ|हाँ जी|हां जी|जी|जी हाँ|जी हां|जी जी|अच्छा|अच्छा जी|ठीक|ठीक है|ठीक है जी|बिल्कुल|बिलकुल|सही|सही है|सही बात है|ओके|ओ के|समझ गया|समझ गई',
    'समझ गया जी|मैं समझ गया|मैं समझ गई|समझा|समझी|हम्म|ज़रूर|जरूर|बढ़िया|बहुत अच्छा|बहुत बढ़िया|सच में|वाह|चलो|चलिए|पक्का|एकदम|हो गया|यस|राइट|बताइए|पता है',
    'haan|han|haa|haan haan|haan ji|han ji|ji|jee|ji haan|ji han|ji ji|accha|acha|achha|achchha|accha ji|theek|thik|theek hai|thik hai|thik he|tik hai|bilkul|sahi|sahi hai',
    'sahi baat hai|ok|okay|okey|samajh gaya|samajh gayi|samajh gaye|main samajh gaya|main samajh gayi|samjha|samjhi|zaroor|jaroor|zarur|badhiya|bahut accha|bahut badhiya',
    'sach mein|wah|chalo|chaliye|pakka|ekdum|ho gaya|yes|right|bataiye|pata hai|hmm ji|no problem',
    'कोई बात नहीं|कोई दिक्कत नहीं|koi baat nahi|koi baat nahin|koi dikkat nahi',
  ),
  nods: {
    core: spaced(
      'अच्छा अच्छी अच्छे ठीक सही सच बढ़िया शानदार कमाल लाजवाब उत्तम बेहतरीन खूब मज़ेदार गज़ब दिलचस्प समझ समझा समझी समझता समझती पता सहमत ज़रूर जरूर',
      'बिल्कुल बिलकुल एकदम पक्का खुशी खुश वाह ज़ाहिर बेशक स्वाभाविक शुक्र चलेगा रहेगा सोचा हाँ जी ओके भगवान बाप मस्त ग्रेट राइट सुंदर अद्भुत पूरा',
      'मंज़ूर यकीनन वाकई राहत accha acha achha acchi acche theek thik sahi sach badhiya shandar kamaal kamal lajawab uttam behtareen khoob mazedaar',
      'gazab dilchasp interesting samajh samjha samjhi samajhta samajhti pata sehmat zaroor zarur bilkul ekdum pakka khushi khush wah wow zahir',
      'beshak shukr chalega rahega socha haan han ji ok okay great good nice mast right true sure exactly yes fine perfect super',
      'अफ़सोस मेहरबानी दुखद अजीब प्यारा प्यारी रोचक उम्मीद afsos meharbani dukhad ajeeb pyara pyari rochak umeed',
      'समझदारी समझदार होशियार चतुर दुख दुखी हैरान प्रभावित संतुष्ट भूला सुना आशा माना सुखद आनंद मीठा खूबसूरत रोमांचक उत्साहजनक ताज़ा',
      'पागलपन गजब उचित ठोस samajhdari samajhdar hoshiyar chatur dukh dukhi hairan prabhavit santusht suna asha sundar',
      'khoobsurat romanchak',
      'अविश्वसनीय बेतुका हास्यास्पद शाबाश उफ़ उफ ओहो हाय अरे छी धत बधाई मुबारक बेचारा बेचारी ग़ज़ब ज़बरदस्त जबरदस्त धमाल हद तौबा जय राम हैरानी मज़ा',
      'सुकून चैन आराम दुर्भाग्य सौभाग्य किस्मत बदकिस्मती वाजिब जायज़ waah shabash uff oho haay badhai mubarak zabardast bechara bechari tauba',
    ),
    inflection: undefined,
    light: spaced(
      'धन्यवाद शुक्रिया shukriya dhanyavaad thanks thank you यह ये वो तो है हैं था थी ही भी में मैं मुझे मैंने आपने आप बहुत लगा लग रहा रही अरे ओह आह चलो चलिए गया गई गए आया आ जानकर सुनकर बात के लिए मेरे',
      'सब अब यही ऐसा हूँ हुई हुआ विचार कहा yeh ye to toh hai hain tha thi hi bhi mein main mujhe maine aapne aap bahut bohot lag laga raha rahi arre',
      'are oh ah chalo chaliye gaya gayi aaya aa jaankar sunkar baat ke liye mere sab ab yahi aisa hoon hun hui idea kaha very know',
      'खबर ख़बर बड़ी बड़ा khabar badi bada',
      'लगता लगती लगे हुए उनका आपका हमें उन्हें इसका उसका को का की से पर तक साथ इतना इतनी उतना ज़्यादा कम काफ़ी थोड़ा lagta lagti hua aapka humein',
      'unka iska uska ko ka ki se par tak saath itna itni zyada kam kaafi thoda',
      'चीज़ योजना cheez',
    ),
    exclaiming: spaced('कितना कितनी kitna kitni'),
    inverting: [],
    wondering: listed(
      'सच में|अच्छा सच में|सच में क्या|अच्छा|ऐसा क्या|ऐसा है क्या|ऐसा|है ना|सच|sach mein|accha sach mein|sach mein kya|accha|aisa kya|aisa hai kya',
      'hai na|sach|really|oh really',
    ),
    phrases: listed(
      'मुझे नहीं पता था|यह नहीं पता था|मुझे यह नहीं पता था|पता नहीं था|हे भगवान|अरे बाप रे|बाप रे|शुक्र है|कोई बात नहीं|कोई दिक्कत नहीं',
      'mujhe nahi pata tha|mujhe nahin pata tha|nahi pata tha|hey bhagwan|arre baap re|baap re|koi baat nahi|koi dikkat nahi|good to know|no problem',
      'i see|सुन रहा हूँ|मैं सुन रहा हूँ|सुन रही हूँ|मैं सुन रही हूँ|समझ सकता हूँ|मुझे पसंद आया|पसंद आया|क्या बात है|sun raha hoon',
      'main sun raha hoon|sun rahi hoon|samajh sakta hoon|pasand aaya|kya baat hai',
      'यकीन नहीं होता|विश्वास नहीं होता|क्या कहने|क्या बात|मुझे लगा ही था|yakeen nahi hota|kya kehne|kya baat|mujhe laga hi tha',
      'क्यों नहीं|मुझे नहीं मालूम था|नहीं मालूम था|मुझे मालूम नहीं था|मालूम नहीं था|मुझे अंदाज़ा नहीं था|अंदाज़ा नहीं था|मैंने सोचा नहीं था',
      'सोचा नहीं था|सोचा भी नहीं था|मैंने सोचा भी नहीं था|ठीक कहते हैं|ठीक कह रहे हैं|सही कह रहे हैं|आप सही कह रहे हैं|सही कहा आपने|चैन आया',
      'जान में जान आई|मज़ाक कर रहे हैं|आप मज़ाक कर रहे हैं|मैं नहीं मानता|विश्वास नहीं हो रहा|यकीन नहीं हो रहा|ऐसा कैसे हो सकता है|हो ही नहीं सकता',
      'हद हो गई|हद है|बधाई हो|मुबारक हो|कौन सोच सकता था|किसने सोचा था|किसे पता था|क्या कहूँ|क्या कहें|ऐसा ही होता है|यही ज़िंदगी है|मैं समझ सकता हूँ',
      'मैं समझ सकती हूँ|आखिरकार|वही तो|इसीलिए तो|यही तो|अब समझा|अब समझी|kyon nahi|maloom nahi tha|andaza nahi tha|socha nahi tha|theek kehte hain',
      'sahi kaha|vishwas nahi hota|hadd hai|badhai ho|wahi to',
    ),
    shapes: listed(
      'वह कितना * है|कितना * * है|कितनी * * है|कितना * है|कितनी * है|कितना *|कितनी *|ये तो *|यह तो *|ये तो * है|यह तो * है|वो तो * है|ये तो बहुत *',
      'ये तो बहुत * है|यह तो बहुत * है|* की बात है|* बात है|बड़ी * बात है|बहुत ही *|बहुत * बात है|क्या * है यार|कमाल का *|कमाल की *|बेचार*|हाय *',
      'हाय रे *|चलो * हुआ|ये भी * है|* कर दिया आपने|सच में *|सच में * है|वाह …|अरे वाह …|बाप रे …|अरे बाप रे …|हे भगवान …|हे राम …|उफ़ …|ओहो …',
      'वाह वाह …|wah …|arre wah …|wow …|baap re …|yeh to * hai|ye to * hai|kitna *|kitni *|* ki baat hai',
    ),
    telling: spaced(
      'पैसा पैसे समय टाइम दूर दूरी देर लगेगा लगेंगे होगा हुआ बाकी बजे दिन महीने रुपये किराया खर्च बड़ा बड़ी लंबा मेरा मेरी मेरे मुझे हमारा आपका किस',
      'कल आज परसों सुबह शाम रात अभी बाद पहले सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार नहीं मत ना गलत ग़लत महँगा महंगा महँगी खराब ख़राब',
      'बंद टूटा टूट रद्द मुफ़्त धीरे ज़ोर तेज़ कम ज़्यादा दूसरा दूसरी दूसरे पहला पहली क्या कौन कब कहाँ क्यों कैसे कितना कितने कितनी वाला वाली वाले',
      'नंबर पता नाम तारीख बिल कार्ड खाता फोन फ़ोन चाहिए करो कीजिए करिए दीजिए दो बताओ बताइए बोलिए बोलो रुको रुकिए सुनिए भाई मैं हम आप मैंने बुरा',
      'बेकार लेकिन पर और या अगर काम paisa paise time door der lagega hoga baaki baje mera meri galat kal aaj nahi nahin mat na kya kaun mehnga',
      'kharab band',
      'फीस फ़ीस शुल्क फॉर्म बीमा कंपनी बैंक दवा डॉक्टर',
    ),
  },
  goodbyes: listed(
    'नमस्ते|नमस्कार|धन्यवाद|बहुत धन्यवाद|बहुत बहुत धन्यवाद|शुक्रिया|बहुत शुक्रिया|बाय|बाय बाय|अलविदा|फिर मिलेंगे|थैंक यू|थैंक्यू|आपका भी|आपको भी|शुभ रात्रि|शुभ दिन|राम राम',
    'namaste|namaskar|dhanyavaad|dhanyavad|dhanyawad|bahut dhanyavaad|bahut bahut dhanyavaad|shukriya|bahut shukriya|bye|bye bye|alvida|phir milenge|fir milenge|thank you|thanks',
    'thank you ji|aapka bhi|aapko bhi|shubh ratri|shubh din|ram ram|goodbye',
  ),
  urgent: spaced(
    'नहीं नही ना रुको रुकिए रुकिये ठहरो ठहरिए बस क्या कौन कब कहाँ कहां क्यों कैसे कितना कितने कितनी कौनसा स्टॉप वेट माफ़',
    'nahi nahin nahee ruko rukiye rukie ruk thehro thehriye bas kya kaun kab kahan kyon kyun kaise kitna kitne kitni kaunsa stop wait no sorry hello',
  ),
  hesitations: spaced(
    'अं अम उम ऊं हम्म मतलब और या लेकिन मगर पर क्योंकि कि अगर तो के का की को से में ने लिए मेरा मेरी मेरे हमारा हमारी एक वो यानी जैसे बहुत',
    'um umm uh uhm matlab aur ya lekin magar par kyunki kyonki agar toh ke ka ki ko se mein me ne liye mera meri mere hamara hamari ek woh vo yaani yani jaise bahut',
  ),
  doubtful: spaced(
    'मैं हम यह ये फिर शायद अभी भी ही थोड़ा वाला असल',
    'main hum yeh ye phir fir shayad abhi bhi hi thoda to wala',
  ),
  leadingEnd: undefined,
  begun: listed(
    'मेरा नाम|मेरा नंबर|मेरा नाम है|मेरा नंबर है|मुझे|मैं चाहता|मैं चाहती|क्या आप|क्या मैं|मुझे एक|मुझे लगता है|बात यह है कि|के बारे में|के लिए',
    'mera naam|mera number|mera naam hai|mera number hai|mujhe|main chahta|main chahti|kya aap|kya main|mujhe ek|mujhe lagta hai|baat yeh hai ki|ke baare mein|ke liye',
    'दूसरी तरफ़|एक तरफ़|सबसे पहले|उदाहरण के लिए|सच कहूँ तो|दूसरे शब्दों में|मेरे मामले में|अगर हो सके तो|समस्या यह है|सवाल यह है|मेरा पता|मेरा पता है|मान लीजिए|मान लो|हम लोग|dusri taraf|ek taraf|sabse pehle|sach kahun to|mere mamle mein|mera pata|mera pata hai|maan lijiye|maan lo|hum log',
  ),
  openings: listed(
    'अं|अम|उम|हम्म|मतलब|तो|वैसे|देखिए|सुनिए|असल में|बात यह है|बात ये है|यानी|अच्छा तो|हाँ तो|और|लेकिन|मेरा नाम|मेरा नाम है|मेरा नंबर|मेरा नंबर है|matlab',
    'toh|waise|dekhiye|suniye|asal mein|baat yeh hai|baat ye hai|yaani|accha toh|haan toh|aur|lekin|mera naam|mera naam hai|mera number|mera number hai',
  ),
  shortQuestions: listed(
    'कब तक|कब से|किस समय|कितने बजे|किसके साथ|किसके लिए|कहाँ से|कहाँ तक|क्यों नहीं|और क्या|और कौन|kab tak|kab se|kis samay|kitne baje|kiske saath|kiske liye|kahan se|kahan tak|kyon nahi|aur kya',
  ),
  thinking: listed(
    'एक मिनट|एक मिनट रुकिए|एक मिनट दीजिए|एक मिनट प्लीज|एक सेकंड|एक सेकेंड|एक सेकंड रुकिए|एक पल|एक पल रुकिए|ज़रा रुकिए|ज़रा रुकिये|रुकिए|रुको|थोड़ा रुकिए|देखता हूँ|देखती हूँ|मैं देखता हूँ|मैं देखती हूँ|अभी देखता हूँ|अभी देखती हूँ|देखने दीजिए|मुझे देखने दीजिए|देख लेता हूँ',
    'देख लेती हूँ|मुझे देखना पड़ेगा|सोचने दीजिए|मुझे सोचने दीजिए|सोचता हूँ|सोचती हूँ|सोच रहा हूँ|सोच रही हूँ|मैं सोच रहा हूँ|मैं सोच रही हूँ|ढूंढ रहा हूँ|ढूंढ रही हूँ|ढूँढता हूँ|चेक करता हूँ|चेक करती हूँ|मैं चेक करता हूँ|कैसे कहूँ|क्या कहते हैं|अच्छा सवाल है|होल्ड कीजिए',
    'ek minute|ek minat|ek minute rukiye|ek minute ruko|ek minute dijiye|ek second|ek sec|ek second rukiye|ek pal|zara rukiye|jara rukiye|thoda rukiye|rukiye|ruko|dekhta hoon|dekhti hoon|main dekhta hoon|main dekhti hoon|abhi dekhta hoon|abhi dekhti hoon|dekhne dijiye|mujhe dekhne dijiye|dekhta hun|dekhti hun',
    'sochne dijiye|mujhe sochne dijiye|sochta hoon|sochti hoon|soch raha hoon|soch rahi hoon|dhoondh raha hoon|dhundh raha hoon|dhundh rahi hoon|check karta hoon|check karti hoon|main check karta hoon|kaise kahoon|accha sawal hai|hold kijiye|let me see|let me check|one minute|one second',
    "देखते हैं|सोचने दो|याद करने दीजिए|ज़रा देखूँ|dekhte hain|sochne do|yaad karne dijiye|zara dekhun|let me think|let's see",
    'अभी आता हूँ|अभी आती हूँ|abhi aata hoon|abhi aati hoon',
  ),
  askingForTime: {
    moments: spaced('मिनट सेकंड सेकेंड पल क्षण होल्ड लाइन इंतज़ार minute second sec pal hold line intezaar'),
    granting: spaced(
      'एक दो ज़रा थोड़ा बस दीजिए मुझे पर रहिए कीजिए रुकिए प्लीज ek do zara thoda bas dijiye mujhe par rahiye kijiye rukiye please',
    ),
    // The endings of its verbs say who does it.
    own: [],
    looks: spaced(
      'ढूँढना ढूँढ ढूँढता ढूँढती देखता देखती देखना देखूँ चेक dhoondhna dhoondh dhundh dhundhna dekhta dekhti dekhna dekhun check',
    ),
    takes: spaced(
      'लूँ लेता लेती लाता लाती निकालता निकालती निकाल निकालना निकालनी खोलता खोलती खोलना खोलनी खोल पूछता पूछती पूछ पूछना loon leta leti lata lati nikalta',
      'nikalti nikal nikalna kholta kholti kholna khol poochta puchta puchti puchna',
      'आता आती जा जाता जाती चालू लगा लेकर लाने करने aata aati ja lekar chalu laga',
    ),
    things: spaced(
      'कार्ड चश्मा पेन कलम कागज काग़ज़ पासपोर्ट पर्स चिट्ठी पत्र ईमेल मेल ऐप आधार दस्तावेज़ बिल डायरी कैलेंडर पत्नी पति बॉस माँ पिता बेटे बेटी card chashma',
      'pen kagaz passport purse chitthi email mail app aadhaar document bill diary calendar patni pati boss',
      'ऊपर नीचे मेज़ मेज कंप्यूटर लैपटॉप दराज़ स्पीकर upar neeche mez computer laptop speaker',
    ),
    after: spaced(
      'है हूँ मैं मुझे अपना अपनी अपने पड़ेगा पड़ेगी रहा रही करना करता करती से hai hoon main mujhe apna apni apne padega padegi raha rahi karna karta karti se',
      'ज़रा अभी दीजिए देना पर zara abhi dijiye par',
    ),
  },
  corrections: listed(
    'नहीं माफ़ कीजिए|नहीं सॉरी|सॉरी नहीं|मेरा मतलब|नहीं नहीं|नहीं मेरा मतलब|बल्कि|nahi sorry|sorry nahi|nahin sorry|mera matlab|nahi nahi|nahin nahin|balki',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`नंबर|नम्बर|अंक|पिन|कोड|वर्तनी|स्पेल|अक्षर|ईमेल|ई-मेल|खाता संख्या|number|\bank\b|\b(?:pin|code|otp|iban)\b|spell|akshar|e-?mail|digits?`,
    spelled: String.raw`वर्तनी|स्पेल|अक्षर|spell|akshar`,
    counted: 'अंकों|अंक|अंकीय|अक्षरों|अक्षर|डिजिट|ank(?:on)?|digits?|akshar',
    values: spaced(
      'शून्य/ज़ीरो/जीरो/zero/shunya/shoonya एक/वन/ek दो/टू/do तीन/थ्री/teen/tin चार/फोर/char/chaar पाँच/पांच/फाइव/paanch/panch छह/छः/छे/सिक्स/chhah/chhe/cheh/che सात/सेवन/saat आठ/एट/aath नौ/नाइन/nau',
      'दस/das ग्यारह/gyarah बारह/barah तेरह/terah चौदह/chaudah पंद्रह/पन्द्रह/pandrah सोलह/solah सत्रह/satrah अठारह/atharah उन्नीस/unnis बीस/bees इक्कीस/ikkees बाईस/baees',
      'तेईस/teis चौबीस/chaubees पच्चीस/pachees छब्बीस/chhabbis सत्ताईस/sattais अट्ठाईस/atthais उनतीस/untees तीस/tees',
    ),
    digits: spaced('one two three four five six seven eight nine oh'),
    tens: spaced('चालीस पचास साठ सत्तर अस्सी नब्बे chalis chalees pachas saath sattar assi nabbe'),
    pairs: [],
    double: spaced('डबल double'),
    triple: spaced('ट्रिपल triple'),
    between: spaced('और फिर डैश डॉट स्पेस बिंदु उम अं aur phir fir dash dot space um'),
    mailAsked: 'ईमेल|ई-मेल|मेल आईडी|e-?mail|mail id',
    joints: spaced('डॉट बिंदु अंडरस्कोर डैश हाइफन dot underscore dash hyphen'),
    ats: spaced('एट ऐट at'),
  },
  sentences: {
    abbreviations: spaced('डॉ श्री सुश्री प्रो कु पं रु dr mr mrs ms prof no st rs'),
    lastAbbreviations: [],
    openers: spaced('मैं आप हम वह यह वे क्या कृपया और लेकिन अगर जी हाँ धन्यवाद i you we the it please'),
    leadsOn: spaced('और या लेकिन कि के का की को से में ने पर लिए मेरा मेरी मेरे आपका आपकी आपके एक यह वह बहुत नहीं तो भी'),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'हाँ|हां|हाँ जी|हां जी|जी हाँ|जी हां|जी|ठीक है|ठीक|बिल्कुल|बिलकुल|सही|सही है|ज़रूर|जरूर|अच्छा|ओके|कर दीजिए|कर दीजिये|कर दो|कर दें|कीजिए|पक्का|यस|श्योर|हाँ कर दीजिए',
      'मंज़ूर है|मंजूर है|बेशक|सहमत हूँ',
      'haan|han|haa|ha|haan ji|han ji|ji haan|ji han|ji|theek hai|thik hai|theek|thik|bilkul|sahi|sahi hai|zaroor|jaroor|zarur|accha|acha|achha|ok|okay|yes|sure|kar dijiye|kar dijie',
      'kar do|kar den|kijiye|pakka|manzoor hai|manjur hai|beshak|sehmat hoon',
    ),
    no: listed(
      'नहीं|नही|जी नहीं|जी नही|नहीं जी|मत|मत करो|मत कीजिए|कभी नहीं|रुको|रुकिए|रुकिये|ठहरिए|रहने दो|रहने दीजिए|गलत|ग़लत|कैंसिल|रद्द|नो|बंद करो|छोड़ो|छोड़िए',
      'nahi|nahin|nahee|ji nahi|ji nahin|mat|mat karo|mat kijiye|kabhi nahi|ruko|rukiye|rukie|thehriye|rehne do|rehne dijiye|galat|cancel|radd|no|band karo|chhodo|chodo|chhodiye|wait|stop',
      'बिल्कुल नहीं|बिलकुल नहीं|ज़रूर नहीं|पक्का नहीं',
    ),
    firmYes: listed(
      'हाँ|हां|हाँ जी|हां जी|जी हाँ|जी हां|बिल्कुल|बिलकुल|ज़रूर|जरूर|haan|han|haan ji|han ji|ji haan|ji han|bilkul|zaroor|jaroor|yes',
    ),
    // The verb stands last, and of "बुक कर दीजिए" the first word is left.
    order:
      /(?:दीजिए|दीजिये|दो|दें|कीजिए|कीजिये|करो|करें|लीजिए|लो|भेजो|भेजिए|dijiye|dijie|do|den|kijiye|kijie|karo|karein|lijiye|lo|bhejo|bhejiye)$|(?:^| )(?:बुक|कन्फर्म|ऑर्डर|पेमेंट|ट्रांसफर|सेव|शुरू|चालू|book|confirm|order|payment|transfer|save|shuru|chalu)$/u,
    told: /(?:[ाअ-ह]ता|[ाअ-ह]ती|था|थी|थे|रहा|रही|रहे|ूंगा|ूंगी|raha|rahi|rahe|tha|thi|the|unga|ungi|oonga|oongi)$/u,
    accepts: listed(
      'बहुत अच्छा रहेगा|अच्छा रहेगा|अच्छा होगा|बहुत अच्छा होगा|मुझे मंज़ूर है|मुझे मंजूर है|मैं सहमत हूँ|मैं सहमत हूं|हाँ बिल्कुल|जी बिल्कुल|जी ज़रूर|जी जरूर|यही चाहिए',
      'मुझे यह चाहिए|मुझे ये चाहिए|मुझे वह चाहिए|मुझे वो चाहिए|mujhe yeh chahiye|mujhe ye chahiye|mujhe woh chahiye|मुझे यही चाहिए|मैं यही चाहता हूँ|मैं यही चाहती हूँ|खुशी से|चलेगा|ठीक रहेगा|सही रहेगा|आगे बढ़िए|ऐसा ही कीजिए|ऐसा कर दीजिए|यह कर दीजिए|बात सही है|अच्छा विचार है',
      'bahut accha rahega|accha rahega|acha rahega|accha hoga|mujhe manzoor hai|mujhe manjur hai|main sehmat hoon|main sahmat hoon|ji bilkul|ji zaroor|yahi chahiye|mujhe yahi chahiye',
      'main yahi chahta hoon|main yahi chahti hoon|khushi se|chalega|theek rahega|thik rahega|sahi rahega|aage badhiye|aisa hi kijiye|aisa kar dijiye|yeh kar dijiye|ye kar dijiye|go ahead|please do',
    ),
    wishes: listed(
      'मुझे चाहिए|मैं चाहता हूँ|मैं चाहती हूँ|मैं चाहूँगा|मैं चाहूँगी|mujhe chahiye|main chahta hoon|main chahti hoon|main chahunga|main chahungi',
    ),
    courtesies: listed(
      'मेरे लिए|हमारे लिए|अभी|तुरंत|कृपया|प्लीज़|प्लीज|धन्यवाद|बहुत धन्यवाद|बहुत बहुत धन्यवाद|शुक्रिया|थैंक यू|थैंक्यू|सर|मैडम|मैम|भाई|भैया|जी सर|बढ़िया|बहुत अच्छा|बहुत बढ़िया|वाह|अरे|उम|हम्म',
      'mere liye|hamare liye|abhi|turant|kripya|please|plz|dhanyavaad|dhanyavad|dhanyawad|bahut dhanyavaad|shukriya|thank you|thanks|sir|madam|maam|bhai|bhaiya|badhiya|bahut accha|wah|arre|are|um|hmm|oh|ah',
    ),
    light: spaced('ना न यह ये इसे उसे वो तो ही है हो अब yeh ye ise use woh wo toh to hi hai ho ab na'),
    tellers: spaced('मैं मैंने मेरा मेरी मेरे हम हमने हमारा मुझे main maine mera meri mere hum humne hamara mujhe'),
    openers: spaced('को से में के का की और साथ लिए ko se mein me ke ka ki aur saath liye'),
    hedges: spaced(
      'लेकिन मगर पर अगर शायद या लगता सोचता बजाय पहले बाद सिर्फ केवल दूसरा दूसरी अलग बदल क्या कैसे कौन कौनसा कब क्यों कहाँ कहां कितना कितने सकता सकते सकती पता समझ समझा सुन सवाल पूछना हैलो नमस्ते अभी',
      'lekin magar par agar shayad ya lagta sochta bajay pehle baad sirf keval dusra doosra dusri alag badal kya kaise kaun kaunsa kab kyon kyun kahan kitna kitne sakta sakte sakti pata samajh samjha sun sawal puchna hello namaste',
    ),
    details: spaced(
      'एक दो तीन चार पाँच पांच छह सात आठ नौ दस ग्यारह बारह बीस तीस आधा दोनों आज कल परसों सुबह दोपहर शाम रात हफ्ते महीने अगले बजे सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार लोग',
      'ek teen char chaar paanch panch chhah chhe saat aath nau das barah bees tees aadha dono aaj kal parso subah dopahar shaam raat hafte mahine agle baje somvar mangalvar budhvar guruvar shukravar shanivar ravivar log',
    ),
    noRefusal: listed(
      'कोई बात नहीं|कोई दिक्कत नहीं|कोई समस्या नहीं|क्यों नहीं|मुझे कोई आपत्ति नहीं|कोई परेशानी नहीं|koi baat nahi|koi baat nahin|koi dikkat nahi|koi samasya nahi|kyon nahi|kyun nahi|no problem',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|radd|रद्द|कैंसिल)/u,
        said: listed('कैंसिल|रद्द|कैंसल|cancel|radd|cancle'),
        clear: listed(
          'कैंसिल कर दो|कैंसिल कर दीजिए|कैंसिल कर दीजिये|कैंसिल करो|कैंसिल कीजिए|कैंसिल कर दें|कैंसल कर दीजिए|कैंसल कर दो|रद्द कर दो|रद्द कर दीजिए|रद्द कर दीजिये|रद्द करो|रद्द कीजिए|रद्द कर दें|cancel kar do|cancel kar dijiye|cancel kar dijie|cancel karo|cancel kijiye|cancel kar den|radd kar do|radd kar dijiye|radd karo|radd kijiye',
        ),
      },
      {
        tool: /(?:^| )(?:stop|band(?: |$)|बंद|paus)/u,
        said: listed('बंद|बंद करो|band|band karo|stop|रोक|rok'),
        clear: listed(
          'बंद कर दो|बंद कर दीजिए|बंद कीजिए|band kar do|band kar dijiye|band kijiye|रोक दो|रोक दीजिए|rok do|rok dijiye',
        ),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|hata|mita|हटा|मिटा)/u,
        said: listed('डिलीट|हटा|मिटा|delete|hata|mita'),
        clear: listed(
          'डिलीट कर दो|डिलीट कर दीजिए|डिलीट करो|हटा दो|हटा दीजिए|मिटा दो|मिटा दीजिए|delete kar do|delete kar dijiye|delete karo|hata do|hata dijiye|mita do|mita dijiye',
        ),
      },
    ],
  },
};
