import { listed } from '../../../../shared/base/listed.ts';

export const hindi = {
  nods: listed(
    'अच्छा सच में|सच में क्या|यह जानकर अच्छा लगा|दिलचस्प|बहुत दिलचस्प|अरे वाह|वाह बहुत बढ़िया|यह तो बढ़िया है|यह अच्छा है|अच्छा समझ गया|अच्छा ठीक है|अच्छा जी ठीक है|बहुत अच्छे|अरे अच्छा|ये तो अच्छी बात है',
    'अच्छी बात है|बहुत अच्छी बात है|सुनकर अच्छा लगा|खुशी हुई|बहुत खुशी हुई|शानदार|बहुत शानदार|कमाल है|कमाल|लाजवाब|उत्तम|बेहतरीन|बहुत खूब|मज़ेदार|गज़ब',
    'ठीक लग रहा है|सही लग रहा है|अच्छा लग रहा है|मुझे ठीक लगा|मेरे लिए ठीक है|यह ठीक रहेगा|यह चलेगा|चलेगा|सब ठीक है|यह सही है|बिल्कुल सही|एकदम सही|सही कहा|सही कहा आपने|आपने सही कहा|यह सच है',
    'हाँ यह सच है|हाँ सही है|हाँ ठीक है|हाँ बिल्कुल|हाँ समझ गया|हाँ समझ गई|हाँ जी समझ गया|हाँ पता है|हाँ मुझे पता है|मुझे पता है|मुझे नहीं पता था|यह नहीं पता था|मैंने भी यही सोचा था|यही सोचा था|मैं समझता हूँ|मैं समझ रहा हूँ|मैं सहमत हूँ|अब समझ आया',
    'समझ आ गया|समझ में आ गया|अच्छा ऐसा है|ऐसा है क्या|अच्छा ऐसा|तो ऐसा है|हे भगवान|अरे बाप रे|ओह अच्छा|ओह ठीक है|स्वाभाविक है|ज़ाहिर है|बेशक|जी बिल्कुल|जी हाँ बिल्कुल|जी सही है|अच्छा विचार है|शुक्र है|चलो अच्छा है|चलो ठीक है',
    'accha sach mein|sach mein kya|yeh jaankar accha laga|interesting|bahut interesting|arre wah|wah bahut badhiya|yeh to badhiya hai|yeh accha hai|accha samajh gaya|accha ji theek hai|bahut acche|acchi baat hai|bahut acchi baat hai|sunkar accha laga|khushi hui|shandar|kamaal hai|bahut khoob|mast',
    'theek lag raha hai|sahi lag raha hai|mere liye theek hai|chalega|sab theek hai|yeh sahi hai|bilkul sahi|ekdum sahi|sahi kaha|aapne sahi kaha|yeh sach hai|haan sahi hai|haan theek hai|haan bilkul|haan samajh gaya|haan pata hai|mujhe pata hai|mujhe nahi pata tha',
    'maine bhi yahi socha tha|main samajhta hoon|ab samajh aaya|samajh aa gaya|accha aisa hai|oh accha|oh theek hai|zahir hai|beshak|ji bilkul|ji sahi hai|accha idea hai|shukr hai|chalo accha hai|chalo theek hai|good to know|great|very good',
  ),
  interruptions: listed(
    'रुकिए|रुको|एक मिनट|नहीं|नहीं नहीं|नहीं धन्यवाद|वो वाला नहीं|सुनिए|माफ़ कीजिए|क्या कहा|क्या|फिर से बताइए|दोबारा बोलिए|धीरे बोलिए|ज़ोर से बोलिए|आवाज़ नहीं आ रही|क्या मतलब है|यह क्या है|कौन बोल रहा है|कितना',
    'कितने का है|कितना समय लगेगा|कब है|कहाँ है|कौनसा|क्यों|कितने बजे|शुक्रवार को|सोमवार को कीजिए|सात बजे|चार लोगों के लिए|पाँच कर दीजिए|नीला वाला|दूसरा वाला|सस्ता वाला|कल कर दीजिए|अगले हफ्ते|असल में नहीं|मेरा मन बदल गया|कैंसिल कर दीजिए',
    'मेरा ऑर्डर रद्द करो|रहने दीजिए|मुझे नहीं चाहिए|मुझे ज़रूरत नहीं है|यह गलत है|यह सही नहीं है|मैंने यह नहीं पूछा|मेरा नाम यह नहीं है|मेरा नाम रवि है|शर्मा है|मैंने पंद्रह कहा|एक बात पूछनी है|किसी से बात करवाइए|इंसान से बात करनी है|मेरा सवाल है|एक और बात|लेकिन मैंने पैसे दे दिए|लेकिन रुकिए|लेकिन क्यों|हाँ लेकिन आज नहीं',
    'मुझे मदद चाहिए|पैसे वापस चाहिए|पैसे देने हैं|बुकिंग करनी है|रसीद चाहिए|ईमेल कर दीजिए|बाद में फोन कीजिए|पीछे जाइए|यह छोड़िए|आगे बढ़िए|शुरू से बताइए|चुप रहिए|मेरी बात सुनिए|हैलो|आप हैं क्या|पार्किंग है क्या|नाश्ता शामिल है क्या|अभी खुला है|रविवार को|बहुत महंगा है|बहुत देर हो गई',
    'ruko|rukiye|ek minute|nahi|nahi nahi|nahi chahiye|suniye|kya kaha|kya|phir se boliye|dheere boliye|awaaz nahi aa rahi|kya matlab|yeh kya hai|kaun bol raha hai|kitna|kitne ka hai|kab hai|kahan hai|kyun|kitne baje|shukravar ko|saat baje|char logon ke liye|doosra wala|sasta wala|kal kar dijiye',
    'cancel kar dijiye|mujhe nahi chahiye|yeh galat hai|mera naam Ravi hai|ek baat puchni hai|kisi se baat karwaiye|mera sawal hai|ek aur baat|lekin maine paise de diye|lekin kyun|mujhe madad chahiye|paise wapas chahiye|booking karni hai|hello|parking hai kya|do ticket|teen raat|Delhi ke liye|card se|jaldi hai|mujhe jaana hai|meri baat khatam nahi hui',
  ),
};
